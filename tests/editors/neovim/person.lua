-- Acts as a person in a Neovim that was configured with nothing but the file that is shipped, and writes down what that person saw.
-- A scenario (see the files beside this one) is a function of this table; its record becomes the JSON file $RECORD.

local M = {}

M.WAIT = 30000 -- milliseconds that any single wait may take
M.record = { events = {}, notified = {}, progress = {} }

function M.await(what, condition)
  if not vim.wait(M.WAIT, condition, 10) then
    error('waited in vain for ' .. what, 2)
  end
end

function M.keys(typed)
  vim.api.nvim_feedkeys(vim.keycode(typed), 'xt', false)
end

function M.client()
  return assert(vim.lsp.get_clients({ name = 'gemini_companion' })[1], 'the client is gone')
end

function M.request(method, params)
  local answer, reason = M.client():request_sync(method, params or {}, M.WAIT)
  return assert(answer, reason).result or error(vim.inspect(answer))
end

function M.count(kind)
  return #vim.tbl_filter(function(event) return event.type == kind end, M.record.events)
end

-- The event of one type that comes after `act` was done.
function M.after(kind, act)
  local before = M.count(kind)
  act()
  M.await(kind, function() return M.count(kind) > before end)
  local events = vim.tbl_filter(function(event) return event.type == kind end, M.record.events)
  return events[before + 1]
end

-- What is shown next in the message area, after `act` was done.
function M.notified(act)
  local before = #M.record.notified
  act()
  M.await('a message', function() return #M.record.notified > before end)
  return M.record.notified[before + 1]
end

function M.answers()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if vim.bo[buffer].buftype == 'nofile' and vim.bo[buffer].filetype == 'markdown' then
      return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
    end
  end
  return ''
end

function M.lines()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

-- What a typed question adds to the window with the answers.
function M.asked(typed)
  local before = #M.answers()
  M.after('turnCompleted', function() M.keys(typed) end)
  return M.answers():sub(before + 1)
end

-- Lets the test know how far this is, and waits until the test has done its part.
function M.rendezvous(name)
  io.stdout:write(name .. '\n')
  io.stdout:flush()
  M.await('the test at ' .. name, function() return vim.uv.fs_stat(vim.env.RECORD .. '.' .. name) ~= nil end)
end

local function listen()
  local handlers = M.client().handlers
  local show = handlers['gemini/event']
  handlers['gemini/event'] = function(err, params, context)
    table.insert(M.record.events, vim.tbl_extend('force', params.event, { seq = params.seq }))
    return show(err, params, context)
  end
  local notify = vim.notify
  vim.notify = function(message, level, options)
    table.insert(M.record.notified, { message = message, level = level or vim.log.levels.INFO })
    return notify(message, level, options)
  end
  vim.api.nvim_create_autocmd('LspProgress', {
    callback = function(args) table.insert(M.record.progress, args.data.params) end,
  })
end

function M.play(scenario)
  local ok, problem = xpcall(function()
    M.await('the server', function() return #vim.lsp.get_clients({ name = 'gemini_companion', bufnr = 0 }) > 0 end)
    listen()
    scenario(M)
  end, debug.traceback)
  M.record.problem = not ok and problem or nil
  M.record.messages = vim.api.nvim_exec2('messages', { output = true }).output
  vim.fn.writefile({ vim.json.encode(M.record) }, vim.env.RECORD)
  vim.cmd('qall!')
end

return M
