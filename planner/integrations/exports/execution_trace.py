"""Messages of Chakra execution traces: fields of `et_def.proto` (MLCommons Chakra, schema 0.0.4) that schedules use.

Declared as proto2, whose bytes proto3 readers take: a field that is set is written, be it zero.
"""

from typing import Any

from google.protobuf import descriptor_pool, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message_factory import GetMessages

_SCHEMA = """
name: "photonplan/et_def.proto" package: "ChakraProtoMsg" syntax: "proto2"
message_type { name: "AttributeProto"
  field { name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "int64_val" number: 9 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "bool_val" number: 27 type: TYPE_BOOL label: LABEL_OPTIONAL }
}
message_type { name: "GlobalMetadata"
  field { name: "version" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
}
message_type { name: "Node"
  field { name: "id" number: 1 type: TYPE_UINT64 label: LABEL_OPTIONAL }
  field { name: "name" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "type" number: 3 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "data_deps" number: 5 type: TYPE_UINT64 label: LABEL_REPEATED options { packed: true } }
  field { name: "attr" number: 10 type: TYPE_MESSAGE type_name: ".ChakraProtoMsg.AttributeProto" label: LABEL_REPEATED }
}
"""
_MESSAGES = GetMessages([text_format.Parse(_SCHEMA, FileDescriptorProto())], descriptor_pool.DescriptorPool())
GlobalMetadata: Any = _MESSAGES["ChakraProtoMsg.GlobalMetadata"]
Node: Any = _MESSAGES["ChakraProtoMsg.Node"]
