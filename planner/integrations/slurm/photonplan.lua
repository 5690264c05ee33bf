-- Jobs with GPUs wait, held, until the planner has placed them. Runs inside slurmctld (Lua 5.1) and in tests (5.3).
--
-- What a job asks for leaves its tres_* fields and stands in its admin_comment, the one field that users can read and
-- only operators write, in words that hold nothing of what a user typed but digits, letters and _:
--   photonplan:nodes=<fewest>-<most>:gpus=<on each node>:type=<name, or any>
-- The daemon keeps this as long as the job lives; it appends :at=<place> or :put-off, and after a space why it waits.
--
-- A job_submit.lua of the site that does more calls it:
--   local photonplan = dofile("/etc/slurm/photonplan.lua")
--   in slurm_job_submit: local code = photonplan.submit(job_desc, part_list, submit_uid); if code ~= slurm.SUCCESS then return code end
--   in slurm_job_modify: local code = photonplan.modify(job_desc, job_rec, part_list, modify_uid), and the same.

local site = {partitions = {}, gpus_per_node = 8, admins = {[0] = true}} -- by `planner slurm install`

local MARK = "photonplan:"
local PER = {"tres_per_job", "tres_per_node", "tres_per_task", "tres_per_socket"}

local function is_set(value)
  return value ~= nil and value ~= "" and value ~= slurm.NO_VAL and value ~= slurm.NO_VAL16 and value ~= slurm.NO_VAL64
end

local function refuse(message)
  error({refused = message}, 0)
end

local function shown(text) -- what a user typed, fit for a message
  return (string.gsub(string.sub(text, 1, 40), "[^A-Za-z0-9_:.,=*/-]", "?"))
end

local function whole(dividend, divisor) -- the quotient, or nil where it is no whole number above 0
  if dividend > 0 and divisor > 0 and dividend % divisor == 0 then return math.floor(dividend / divisor) end
end

-- Partitions

local function is_planned(names) -- whether GPU jobs of a partition, or of one in a list of them, are placed
  if next(site.partitions) == nil then return true end
  local planned, others = false, false
  for name in string.gmatch(names, "[^,]+") do
    if site.partitions[name] then planned = true else others = true end
  end
  if planned and others then
    refuse("name one partition: jobs with GPUs are placed by the planner in some of these, and in others are not")
  end
  return planned
end

local function partition_of(job, partitions)
  if is_set(job.partition) then return job.partition end
  for name, partition in pairs(partitions or {}) do
    if partition.flag_default == 1 or partition.flag_default == true then return name end
  end
  return next(site.partitions) or ""
end

-- What a job asks for

local function mentions_gpus(job)
  for _, field in ipairs(PER) do
    local text = string.lower(job[field] or "")
    if string.find(text, "gpu", 1, true) or string.find(text, "shard", 1, true) or string.find(text, "mps", 1, true) then
      return true
    end
  end
  return false
end

local function bare(token) -- gpu:a100:2, of gres:gpu:a100:2 (22.05), gres/gpu:a100:2 or, for a task, gres/gpu:a100=2 (24.11)
  local name, is_new = string.gsub(token, "^gres/", "")
  if is_new == 1 then return (string.gsub(name, "^([^=]+)=(%d+)$", "%1:%2")) end
  return (string.gsub(token, "^gres:", ""))
end

local function is_processors(token) -- of a task, which 24.11 names beside its GPUs: cpu=4
  return string.match(token, "^cpu[:=]%d+$") ~= nil
end

local function without_gpus(text) -- what stays of a tres_* field
  local kept = {}
  for token in string.gmatch(text, "[^,]+") do
    if is_processors(token) then kept[#kept + 1] = token end
  end
  return table.concat(kept, ",")
end

local function gpus_in(text) -- number and type of the GPUs that a tres_* field asks for; 0 if none
  local count, kind, others, seen = 0, nil, false, false
  for token in string.gmatch(text, "[^,]+") do
    local name = bare(token)
    if string.match(name, "^shard") or string.match(name, "^mps") then
      refuse("'" .. shown(name) .. "' shares a GPU, which the planner does not do; ask for whole ones: --gres=gpu:1")
    elseif not string.find(string.lower(name), "gpu", 1, true) then
      others = others or not is_processors(token)
    else
      local number_alone = string.match(name, "^gpu:(%d+)$")
      local kind_alone = string.match(name, "^gpu:([A-Za-z_][A-Za-z0-9_.-]*)$")
      local word, number = string.match(name, "^gpu:([A-Za-z0-9_][A-Za-z0-9_.-]*):(%d+)$")
      local is_read = name == "gpu" or number_alone or kind_alone or word
      local digits = number_alone or number or "1"
      kind = kind_alone or word
      if seen or not is_read or #digits > 6 or #(kind or "") > 40 then
        refuse("cannot read '" .. shown(text) .. "'; ask for GPUs as gpu:2, or of one type as gpu:a100:2")
      end
      seen, count = true, tonumber(digits)
    end
  end
  if count > 0 and others then
    refuse("a job with GPUs may ask for no other GRES, as '" .. shown(text) .. "' does; leave the others out")
  end
  return count, kind or "any"
end

local function asked(job) -- {tres_per_job = number, ...} of GPUs, and their type; nil where there are none
  local found, kind = {}, "any"
  for _, field in ipairs(PER) do
    if is_set(job[field]) then
      local count, its = gpus_in(job[field])
      if count > 0 then
        if its ~= "any" and kind ~= "any" and its ~= kind then refuse("ask for GPUs of one type") end
        found[field], kind = count, its ~= "any" and its or kind
      end
    end
  end
  if next(found) ~= nil then return found, kind end
end

local function nodes_of(job) -- fewest and most nodes, or nil where the user leaves them open
  local fewest = is_set(job.min_nodes) and job.min_nodes > 0 and job.min_nodes or nil
  local most = is_set(job.max_nodes) and job.max_nodes > 0 and job.max_nodes or nil
  local tasks, each = is_set(job.num_tasks) and job.num_tasks, is_set(job.ntasks_per_node) and job.ntasks_per_node
  if not fewest and tasks and each and each > 0 then fewest = math.ceil(tasks / each) end
  if fewest then return fewest, math.max(fewest, most or fewest) end
end

local function spread(total, fewest, most) -- nodes and GPUs on each for GPUs that are counted over the whole job
  local per_node = site.gpus_per_node
  if fewest and fewest ~= most then refuse("with --gpus give one number of nodes, or --gpus-per-node") end
  if fewest then
    local each = whole(total, fewest)
    if not each then
      refuse(string.format("%d GPUs do not divide over %d nodes; give --gpus-per-node", total, fewest))
    end
    return fewest, fewest, each
  end
  if total <= per_node then return 1, 1, total end
  local nodes = whole(total, per_node)
  if not nodes then
    refuse(string.format(
      "%d GPUs are no whole nodes of %d; ask for a multiple of %d, or give nodes and GPUs on each: -N 2 --gres=gpu:%d",
      total, per_node, per_node, math.ceil(total / 2)))
  end
  return nodes, nodes, per_node
end

local function by_task(job, each, fewest, most)
  local tasks = is_set(job.num_tasks) and job.num_tasks or 1
  if is_set(job.ntasks_per_node) and job.ntasks_per_node > 0 then
    return fewest or 1, most or 1, each * job.ntasks_per_node
  end
  local first, last, count = spread(each * tasks, fewest, most)
  if not whole(count, each) then
    refuse("GPUs of one task would lie on two nodes; give -N and --ntasks-per-node")
  end
  return first, last, count
end

local function by_node(job, each, total, fewest, most)
  if total then
    local nodes = whole(total, each)
    if not nodes or (fewest and (nodes < fewest or nodes > most)) then
      refuse("--gpus, --gpus-per-node and the number of nodes do not agree; leave --gpus out")
    end
    return nodes, nodes, each
  end
  if not fewest and is_set(job.num_tasks) and job.num_tasks > each then
    refuse("say on how many nodes the tasks run: give -N, or --ntasks-per-node")
  end
  return fewest or 1, most or 1, each
end

local function request_of(job, counts)
  local fewest, most = nodes_of(job)
  if counts.tres_per_socket then refuse("--gpus-per-socket is not planned; give --gpus-per-node") end
  if counts.tres_per_task and (counts.tres_per_node or counts.tres_per_job) then
    refuse("give either --gpus-per-task or --gpus-per-node")
  end
  local each
  if counts.tres_per_task then
    fewest, most, each = by_task(job, counts.tres_per_task, fewest, most)
  elseif counts.tres_per_node then
    fewest, most, each = by_node(job, counts.tres_per_node, counts.tres_per_job, fewest, most)
  else
    fewest, most, each = spread(counts.tres_per_job, fewest, most)
  end
  if each > site.gpus_per_node then
    refuse(string.format("%d GPUs on a node are more than the %d that one has", each, site.gpus_per_node))
  end
  return fewest, most, each
end

local NOT_WITH_GPUS = { -- field, what the user gave, what to do
  {"het_job_offset", "a heterogeneous job", "submit its parts one by one"},
  {"req_nodes", "--nodelist", "leave it out: the planner chooses the nodes"},
  {"exc_nodes", "--exclude", "leave it out: the planner chooses the nodes"},
  {"features", "--constraint", "leave it out: the planner chooses the nodes"},
  {"reservation", "--reservation", "leave it out: the planner chooses the nodes"},
  {"req_switch", "--switches", "leave it out: the planner chooses the nodes"},
  {"cpus_per_tres", "--cpus-per-gpu", "give --cpus-per-task"},
  {"mem_per_tres", "--mem-per-gpu", "give --mem"},
  {"ntasks_per_gpu", "--ntasks-per-gpu", "give --ntasks-per-node"},
  {"tres_bind", "--gpu-bind", "leave it out: all tasks of a node see the GPUs that the job has there"},
}

local function is_implied(bind) -- what 24.11 adds to --gpus-per-task by itself
  return is_set(bind) and string.match(bind, "^gres/gpu:per_task:%d+$") ~= nil
end

local function require_plannable(job, each)
  for _, row in ipairs(NOT_WITH_GPUS) do
    if is_set(job[row[1]]) and not (row[1] == "tres_bind" and is_implied(job.tres_bind)) then
      refuse(row[2] .. " cannot be had with GPUs; " .. row[3])
    end
  end
  if job.priority == 0 then refuse("--hold cannot be had with GPUs; submit the job later, or give --begin") end
  if job.contiguous == 1 or job.contiguous == true then refuse("--contiguous cannot be had with GPUs; leave it out") end
  if (job.shared == 0 or job.shared == 2 or job.shared == 3) and each < site.gpus_per_node then
    refuse(string.format("--exclusive with fewer than the %d GPUs of a node; leave it out, or ask for all",
      site.gpus_per_node))
  end
end

-- What can never run: `planner slurm install` has tried all shapes up to some size on the empty cluster

local SAYS = {workload = true, weight = true, utility = true, step_at = true}

local function workload_of(job) -- what --comment names; the daemon reads the rest
  local said, name = {}, site.default_workload
  for word in string.gmatch(job.comment or "", "[^%s,]+") do
    local key, value = string.match(word, "^([a-z_]+)=([A-Za-z0-9_.+-]+)$")
    if not SAYS[key] or said[key] then
      refuse("--comment " .. shown(word) .. " is not understood; give, each once: workload=, weight=, utility=, step_at=")
    end
    said[key] = true
    if key == "workload" then name = value end
  end
  if not site.runs[name] then
    local known = {}
    for each in pairs(site.runs) do known[#known + 1] = each end
    table.sort(known)
    refuse("there is no workload " .. shown(name) .. "; there are: " .. table.concat(known, ", "))
  end
  return name
end

local function holds(ranges, fewest, most) -- whether 1-4,6 has a number of these
  for range in string.gmatch(ranges, "[^,]+") do
    local low, high = string.match(range, "^(%d+)-?(%d*)$")
    if tonumber(low) <= most and fewest <= tonumber(high ~= "" and high or low) then return true end
  end
  return false
end

local function require_possible(job, fewest, most, each, kind)
  if site.types and kind ~= "any" and not site.types[string.lower(kind)] then
    refuse("no node has GPUs of the type " .. shown(kind))
  end
  if not site.runs then return end
  local workload = workload_of(job)
  if fewest > site.nodes then
    refuse(string.format("%d nodes are asked for; the planner has %d", fewest, site.nodes))
  end
  local runs = site.runs[workload]
  if most > site.tried[each] or holds(runs[each], fewest, most) then return end
  if runs[each] ~= "" then
    refuse(string.format("%s can never run on %d nodes with %d GPUs on each; with %d on each it runs on %s nodes",
      workload, fewest, each, each, runs[each]))
  end
  local others = {}
  for gpus = 1, site.gpus_per_node do
    if runs[gpus] ~= "" then others[#others + 1] = gpus end
  end
  refuse(string.format("%s can never run with %d GPUs on a node; it runs with %s", workload, each,
    #others > 0 and table.concat(others, ", ") or "no number of them: tell your administrator"))
end

local function hold(job, partitions)
  if not mentions_gpus(job) or not is_planned(partition_of(job, partitions)) then return end
  local counts, kind = asked(job)
  if counts == nil then return end
  local fewest, most, each = request_of(job, counts)
  require_plannable(job, each)
  require_possible(job, fewest, most, each, kind)
  job.priority = 0
  job.min_nodes, job.max_nodes = fewest, most
  for _, field in ipairs(PER) do
    if is_set(job[field]) then job[field] = without_gpus(job[field]) end
  end
  if is_implied(job.tres_bind) then job.tres_bind = "" end
  job.admin_comment = string.format("%snodes=%d-%d:gpus=%d:type=%s", MARK, fewest, most, each, kind)
end

-- What users may change

local FIELDS = {
  "priority", "nice", "req_nodes", "exc_nodes", "features", "batch_features", "prefer", "min_nodes", "max_nodes",
  "num_tasks", "ntasks_per_node", "cpus_per_task", "min_cpus", "max_cpus", "pn_min_cpus", "pn_min_memory", "shared",
  "contiguous", "req_switch", "partition", "reservation", "dependency", "admin_comment", "tres_per_job",
  "tres_per_node", "tres_per_task", "tres_per_socket", "cpus_per_tres", "mem_per_tres",
}

local function is_allowed(change, job)
  if string.sub(job.admin_comment or "", 1, #MARK) == MARK then
    for _, field in ipairs(FIELDS) do
      -- an empty text clears a field, so it is a change as well
      if change[field] == "" or is_set(change[field]) then return false end
    end
    if is_set(change.begin_time) and change.begin_time ~= 0 then return false end
    return not (is_set(change.time_limit) and is_set(job.time_limit) and change.time_limit > job.time_limit)
  end
  if not is_planned(change.partition or job.partition or "") then return true end
  local wanted = {}
  for _, field in ipairs(PER) do
    wanted[field] = change[field] or (change.partition and job[field])
  end
  return not mentions_gpus(wanted) -- nobody gets GPUs past the planner
end

-- What slurmctld calls; an error of our own must never let a job through

local photonplan = {}

function photonplan.submit(job, partitions, uid)
  local worked, problem = pcall(hold, job, partitions)
  if worked then return slurm.SUCCESS end
  local message = type(problem) == "table" and problem.refused
  if not message then slurm.log_error("photonplan: %s", tostring(problem)) end
  slurm.log_user("photonplan: %s", message or "an error inside the planner's job_submit.lua; tell your administrator")
  return slurm.ERROR
end

function photonplan.modify(change, job, partitions, uid)
  if site.admins[uid] then return slurm.SUCCESS end
  local worked, allowed = pcall(is_allowed, change, job)
  if worked and allowed then return slurm.SUCCESS end
  slurm.log_info("photonplan: user %d may not change that of job %s", uid, tostring(job.job_id))
  return slurm.ESLURM_ACCESS_DENIED
end

return photonplan
