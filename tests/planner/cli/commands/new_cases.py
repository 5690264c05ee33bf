"""Shared by the tests of `new_instance` and `new`."""

HEADER = (
    "name,tenant,model,kind,accelerators,weight,required,global_batch,sequence,concurrency,input_tokens,output_tokens"
)
