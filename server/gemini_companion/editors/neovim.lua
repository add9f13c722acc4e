-- Gemini Companion in Neovim 0.11 or newer. Put this file at ~/.config/nvim/plugin/gemini.lua:
--   gemini-companion editor neovim > ~/.config/nvim/plugin/gemini.lua
--
--   :Gemini why is this slow?   ask; with a selection (:'<,'>Gemini ...) about those lines, else about where the cursor is
--   :'<,'>Gemini                ask what the selected lines do
--   gra                         pick a code action, for the exact selection
--   :GeminiCompress [guidance]  compress the chat
--   :GeminiStatus               show where compression stands
--   :GeminiUndo                 take the last compression back
--   :GeminiCancel               stop the answer, the command or the compression that runs
--   :GeminiMode plan            only look; or ask (before anything is changed or run), acceptEdits
--   :GeminiRevert               take the newest change of files back
--   :GeminiAnswer               go to what Gemini asks, and answer it there
--
-- Before Gemini changes a file or runs a command, it asks in a window beside yours. What you type elsewhere never answers: go there
-- with :GeminiAnswer, for which you may want a key, such as
--   vim.keymap.set('n', '<Leader>ga', '<Cmd>GeminiAnswer<CR>')
-- Edits of open files can be undone with u.

-- ---- what Gemini asks

local questions = {} -- those that wait, oldest first; the first is shown
local shown -- the question in the buffer
local reached -- the question that you went to; only its keys answer
local came_from -- the window where you were then
local asked -- the buffer
local ensure_asked -- which makes it, also after :%bdelete

local function in_one_line(text) -- for the message area; a longer text would make Neovim wait for a key
  local space = math.max(vim.v.echospace, 20)
  return vim.fn.strdisplaywidth(text) <= space and text or vim.fn.strcharpart(text, 0, math.floor(space / 2)) .. '…'
end

local function title_of(question) return vim.split(question.params.text or question.params.question, '\n')[1] end

local function keys_of(question)
  local params = question.params
  if params.question then
    return 'a number: that answer  r: in your own words (:GeminiReply)  n, Enter: no answer  q: later'
  end
  local rule = params.rule and 's: yes, for this session  a: yes, always  ' or ''
  local text = (params.newContent or params.command) and 'e: correct the text  ' or ''
  return 'y: yes  ' .. rule .. 'n, Enter: no  r: no, and why (:GeminiRefuse)  ' .. text .. 'q: later'
end

local function lines_of(question)
  local params = question.params
  local more = #questions > 1 and ('  (%d more after this)'):format(#questions - 1) or ''
  local lines = { (question == reached and keys_of(question) or 'Gemini asks. To answer: :GeminiAnswer') .. more, '' }
  vim.list_extend(lines, vim.split(params.text or params.question, '\n'))
  for number, option in ipairs(params.options or {}) do
    vim.list_extend(lines, vim.split(number .. ': ' .. option, '\n'))
  end
  return lines
end

local function question_window() -- made beside the others, and never entered from here
  ensure_asked()
  local window = vim.fn.bufwinid(asked)
  if window == -1 then
    local height = math.max(5, math.floor(vim.o.lines * 0.4))
    window = vim.api.nvim_open_win(asked, false, { split = 'below', win = -1, height = height })
    for option, value in pairs({ wrap = true, linebreak = false, list = false, conceallevel = 0, foldenable = false }) do
      vim.wo[window][0][option] = value
    end
  end
  return window
end

local function write_question()
  ensure_asked()
  shown = questions[1]
  local lines = shown and lines_of(shown) or { 'Gemini asks nothing now.' }
  local is_same = vim.deep_equal(vim.api.nvim_buf_get_lines(asked, 1, -1, false), vim.list_slice(lines, 2))
  vim.bo[asked].modifiable = true
  if is_same then -- a reader stays where they are
    vim.api.nvim_buf_set_lines(asked, 0, 1, false, { lines[1] })
  else
    vim.api.nvim_buf_set_lines(asked, 0, -1, false, lines)
  end
  vim.bo[asked].modifiable = false
end

local function refresh() -- after the list has changed
  if reached ~= questions[1] then reached = nil end
  local is_new = questions[1] and questions[1] ~= shown
  write_question()
  if is_new then
    local is_made, window = pcall(question_window) -- not in the command-line window
    if is_made then vim.api.nvim_win_set_cursor(window, { 1, 0 }) end
    vim.notify(in_one_line('Gemini asks (:GeminiAnswer): ' .. title_of(shown)), vim.log.levels.WARN)
  elseif not questions[1] then
    for _, window in ipairs(vim.fn.win_findbuf(asked)) do
      if window ~= vim.api.nvim_get_current_win() then pcall(vim.api.nvim_win_close, window, true) end
    end
  end
end

local function tell_edits(id) -- what was edited since it was asked: Neovim gathers edits for a moment before it tells of them
  local is_there, tracking = pcall(require, 'vim.lsp._changetracking')
  local client = vim.lsp.get_client_by_id(id)
  if is_there and client then pcall(tracking.flush, client) end
end

local function settle(question, result)
  for index, one in ipairs(questions) do
    if one == question then
      table.remove(questions, index)
      tell_edits(question.client)
      coroutine.resume(question.thread, result)
      refresh()
      return
    end
  end
  vim.notify('Nobody waits for that answer any more.', vim.log.levels.WARN)
end

local function no_answer(question) return question.params.question and vim.empty_dict() or { outcome = 'reject' } end

local function ask(_, params, context)
  local thread = coroutine.running()
  table.insert(questions, { params = params, client = context.client_id, thread = thread })
  vim.schedule(function()
    refresh()
    if #questions > 1 then
      vim.notify(in_one_line('Gemini asks more after this: ' .. title_of(questions[#questions])), vim.log.levels.WARN)
    end
  end)
  return coroutine.yield()
end

local function drop(condition) -- what nobody waits for any more
  for _, question in ipairs(vim.list_extend({}, questions)) do
    if condition(question) then settle(question, no_answer(question)) end
  end
end

local function go_back()
  if came_from and vim.api.nvim_win_is_valid(came_from) then vim.api.nvim_set_current_win(came_from) end
  came_from = nil
end

local function answer(result)
  local question = questions[1]
  go_back() -- first, so that the window can close
  settle(question, result)
end

local function with_reached(act)
  return function()
    if reached and reached == questions[1] then
      act(reached.params)
    else
      vim.notify('First go to the question: :GeminiAnswer', vim.log.levels.WARN)
    end
  end
end

local function correct(params) -- the text as you change it; writing it is the yes to it
  local question, command = reached, not params.newContent and params.command or nil
  local text = (params.newContent or command or ''):gsub('\r\n', '\n')
  local lines, last = vim.split(text, '\n'), ''
  if not command and lines[#lines] == '' then last = table.remove(lines) .. '\n' end
  local name = 'gemini://correct/' .. params.toolCallId
  local buffer, is_in_it = vim.fn.bufadd(name), true
  vim.api.nvim_buf_delete(buffer, { force = true }) -- one that was left
  buffer = vim.api.nvim_create_buf(false, false)
  vim.api.nvim_buf_set_name(buffer, name)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].modified = 'acwrite', 'hide', false
  vim.bo[buffer].syntax = command and 'sh' or vim.filetype.match({ filename = params.path or '' }) or ''
  vim.api.nvim_create_autocmd({ 'BufEnter', 'BufLeave' }, {
    buffer = buffer,
    callback = function(args) is_in_it = args.event == 'BufEnter' end,
  })
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buffer,
    callback = function()
      if not is_in_it then -- :wall elsewhere, or a plugin that saves
        vim.notify('Gemini still asks: go to the text, and write it there to say yes.', vim.log.levels.WARN)
        return
      end
      local changed = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. last
      vim.bo[buffer].modified = false
      local result = { outcome = 'once' }
      if changed ~= text and command then
        result.editedArgs = vim.tbl_extend('force', params.args, { command = changed })
      elseif changed ~= text then
        result.editedContent = changed
      end
      go_back()
      vim.schedule(function()
        if vim.v.exiting ~= vim.NIL then return end -- it was the end of Neovim that wrote it
        pcall(vim.api.nvim_buf_delete, buffer, { force = true })
        settle(question, result)
      end)
    end,
  })
  vim.api.nvim_win_set_buf(0, buffer)
  vim.notify('Write it (:w) to say yes to it as it is then.')
end

-- A text that you correct does not keep Neovim from ending. Nor is its end a yes, as :wqall or 'autowriteall' would have it.
vim.api.nvim_create_autocmd('ExitPre', {
  callback = function()
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.startswith(vim.api.nvim_buf_get_name(buffer), 'gemini://correct/') then vim.bo[buffer].modified = false end
    end
  end,
})

local function prepare_asked()
  asked = vim.api.nvim_create_buf(false, true)
  vim.bo[asked].syntax, vim.bo[asked].modifiable = 'diff', false
  pcall(vim.api.nvim_buf_set_name, asked, 'gemini://question')
  local function on_key(key, act) vim.keymap.set('n', key, with_reached(act), { buffer = asked, nowait = true }) end
  for key, outcome in pairs({ y = 'once', s = 'session', a = 'always' }) do
    on_key(key, function(params)
      if not params.question and (outcome == 'once' or params.rule) then answer({ outcome = outcome }) end
    end)
  end
  for _, key in ipairs({ 'n', '<CR>' }) do
    on_key(key, function() answer(no_answer(reached)) end)
  end
  for number = 1, 9 do
    on_key(tostring(number), function(params)
      local option = params.options and params.options[number]
      if option then answer({ answer = option }) end
    end)
  end
  on_key('e', function(params)
    if params.newContent or params.command then correct(params) end
  end)
  on_key('r', function(params)
    vim.api.nvim_feedkeys(params.question and ':GeminiReply ' or ':GeminiRefuse ', 'ni', false)
  end)
  on_key('q', function()
    reached = nil
    write_question()
    go_back()
  end)
  vim.api.nvim_create_autocmd('BufLeave', {
    buffer = asked,
    callback = function()
      if vim.fn.getcmdwintype() == '' then reached = nil end
    end,
  })
end

local function is_whole(buffer) return buffer and vim.api.nvim_buf_is_loaded(buffer) end

ensure_asked = function()
  if is_whole(asked) then return end
  if asked and vim.api.nvim_buf_is_valid(asked) then vim.api.nvim_buf_delete(asked, { force = true }) end
  reached = nil
  prepare_asked()
end

vim.api.nvim_create_user_command('GeminiAnswer', function()
  if not questions[1] then
    vim.notify('Gemini asks nothing now.')
    return
  end
  local here = vim.api.nvim_get_current_win()
  vim.api.nvim_set_current_win(question_window())
  vim.cmd.stopinsert()
  came_from = vim.api.nvim_win_get_buf(here) == asked and came_from or here
  reached = questions[1]
  write_question()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
end, { range = true }) -- of a selection, which is not heeded
local typed_for -- the question that waited when you began to type a command
vim.api.nvim_create_autocmd({ 'CmdlineEnter', 'CmdlineLeave' }, {
  pattern = ':',
  callback = function(args)
    if args.event == 'CmdlineEnter' then
      typed_for = questions[1]
    elseif vim.v.event.abort then
      typed_for = nil
    end
  end,
})

local function is_another() -- by now, than the words are for
  local before = typed_for
  typed_for = nil
  if not before or before == questions[1] then return false end
  vim.notify('Gemini asks something else by now: your words were for what it asked before.', vim.log.levels.WARN)
  return true
end

vim.api.nvim_create_user_command('GeminiRefuse', function(opts)
  local question = questions[1]
  if is_another() then return end
  if not question or question.params.question then
    vim.notify('Gemini asks for no permission now.')
  else
    answer({ outcome = 'reject', reason = opts.args })
  end
end, { nargs = '*', range = true })
vim.api.nvim_create_user_command('GeminiReply', function(opts)
  local question = questions[1]
  if is_another() then return end
  if not question or not question.params.question then
    vim.notify('Gemini asks you nothing that words answer. :GeminiRefuse says no, and why.')
  else
    answer({ answer = opts.args })
  end
end, { nargs = '+', range = true })

-- ---- the server

local pending = {} -- what is to be done once it has started

local function apply_edit(err, params, context)
  for _, change in ipairs(params.edit.documentChanges or {}) do
    local now = vim.lsp.util.buf_versions[vim.uri_to_bufnr(change.textDocument.uri)]
    if now and change.textDocument.version and now > change.textDocument.version then -- Neovim would skip it, and say that it was made
      return { applied = false, failureReason = 'The text is another by now.' }
    end
  end
  return vim.lsp.handlers['workspace/applyEdit'](err, params, context)
end

vim.lsp.config('gemini_companion', {
  cmd = { 'gemini-companion', 'serve' },
  root_dir = function(buffer, on_dir) on_dir(vim.fs.root(buffer, '.git') or vim.fn.getcwd()) end,
  init_options = { trusted = true, supports = { 'confirmTool', 'questionText', 'askUser', 'saveDocument' } },
  handlers = {
    ['gemini/confirmTool'] = ask,
    ['gemini/askUser'] = ask,
    ['workspace/applyEdit'] = apply_edit,
    ['window/showMessage'] = function(_, params) vim.notify(params.message, 5 - params.type) end,
  },
  on_init = function(client)
    vim.schedule(function()
      for _, act in ipairs(pending) do act(client) end
      pending = {}
    end)
  end,
  on_exit = function(_, _, id)
    vim.schedule(function()
      drop(function(question) return question.client == id end)
    end)
  end,
})
vim.lsp.enable('gemini_companion')

-- ---- answers

-- So far code actions work (gra), and their answers come as messages. From here on answers stream into a window of their own.
local answers -- the buffer

local titles = {} -- of calls of tools
local has_text = false -- whether the answer has shown anything

local function show(text)
  if not is_whole(answers) then
    answers = vim.api.nvim_create_buf(false, true)
    vim.bo[answers].filetype = 'markdown'
  end
  if vim.fn.bufwinid(answers) == -1 then
    local is_made, window = pcall(vim.api.nvim_open_win, answers, false, { split = 'right' }) -- not in the command-line window
    if is_made then vim.wo[window].linebreak = true end
  end
  vim.api.nvim_buf_set_text(answers, -1, -1, -1, -1, vim.split(text, '\n'))
  local window = vim.fn.bufwinid(answers)
  if window ~= -1 then vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(answers), 0 }) end
end

local function on_event(_, params)
  local event = params.event
  if event.type == 'toolQuestionAnswered' or event.type == 'toolCallCompleted' then
    drop(function(question) return question.params.toolCallId == event.toolCallId end)
  end
  if event.type == 'turnStarted' then
    has_text = false
    show('> ' .. (event.prompt[1].text or '…'):gsub('\n', '\n> ') .. '\n\n')
  elseif event.type == 'messageDelta' then
    has_text = true
    show(event.text)
  elseif event.type == 'toolCallStarted' then
    titles[event.toolCallId] = event.title or event.name
  elseif event.type == 'toolCallCompleted' then
    show(('\n- %s: %s\n\n'):format(titles[event.toolCallId], event.summary or event.outcome))
  elseif event.type == 'messageDiscarded' then
    show('\n\n*(That was cut short. Once more:)*\n\n')
  elseif event.type == 'turnFailed' or event.type == 'turnCancelled' then
    show(has_text and '\n\n*(It ends here.)*\n\n' or '\n\n*(No answer.)*\n\n')
  elseif event.type == 'turnCompleted' then
    show('\n\n')
  end
end

-- An edit of a file that you had saved is saved too, so that the commands Gemini runs see it. What you have not saved stays so.
local function save_document(_, params)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(params.path, '\\[]*?{}') .. '$')
  if buffer == -1 then return { saved = false } end
  local is_other = vim.bo[buffer].readonly -- or on the disk: Neovim would ask, and take what you type for the answer
  local watch = vim.api.nvim_create_autocmd('FileChangedShell', { buffer = buffer, callback = function() is_other = true end })
  vim.cmd.checktime(buffer)
  vim.api.nvim_del_autocmd(watch)
  if not is_other then pcall(vim.api.nvim_buf_call, buffer, function() vim.cmd('silent write!') end) end
  return { saved = not vim.bo[buffer].modified }
end

vim.lsp.config('gemini_companion', { handlers = { ['gemini/event'] = on_event, ['gemini/saveDocument'] = save_document } })

vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(args)
    local value = args.data.params.value
    if vim.lsp.get_client_by_id(args.data.client_id).name == 'gemini_companion' then
      vim.api.nvim_echo({ { value.kind == 'end' and '' or value.title .. ': ' .. (value.message or '…') } }, false, {})
    end
  end,
})

local function is_file() return vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) ~= '' end

local function with_client(act)
  local name, buffer = 'gemini_companion', vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ name = name, bufnr = buffer })[1] or vim.lsp.get_clients({ name = name })[1]
  if not client then -- it starts by itself with files of a type that Neovim knows; here for all others, and without one
    local config = vim.deepcopy(vim.lsp.config[name])
    if vim.fn.executable(config.cmd[1]) == 0 then
      local problem = config.cmd[1] .. " is not on Neovim's PATH: install Gemini Companion, and start Neovim anew."
      vim.notify(problem, vim.log.levels.ERROR)
      return
    end
    config.root_dir = vim.fs.root(buffer, '.git') or vim.fn.getcwd()
    client = vim.lsp.get_client_by_id(vim.lsp.start(config, { attach = false }) or -1)
    if not client then
      vim.notify('Gemini Companion does not start: run gemini-companion doctor.', vim.log.levels.ERROR)
      return
    end
  end
  if is_file() and not vim.lsp.buf_is_attached(buffer, client.id) then vim.lsp.buf_attach_client(buffer, client.id) end
  if client.initialized then
    act(client)
  else
    table.insert(pending, act)
  end
end

local function request(method, params)
  with_client(function(client)
    client:request(method, params, function(err, result)
      if err and err.code ~= -32800 then -- which says: cancelled
        vim.notify(vim.trim(err.message .. ' ' .. err.data.hint), vim.log.levels.ERROR)
      elseif result then
        local outcome = result.message or result.compression and result.compression.message
        outcome = outcome or result.cancelled == false and 'Nothing is running.'
        outcome = outcome or result.mode and 'Mode: ' .. result.mode
        for _, conflict in ipairs(result.conflicts or {}) do outcome = conflict.path .. ' is left as it is: ' .. conflict.reason end
        outcome = outcome or result.reverted and 'Put back: ' .. table.concat(result.reverted, ', ')
        if outcome then vim.notify(outcome) end
      end
    end)
  end)
end

vim.lsp.config('gemini_companion', {
  commands = { ['gemini.chat'] = function(command) request('gemini/chat', command.arguments[1]) end }, -- what code actions run
})

local command = vim.api.nvim_create_user_command
command('Gemini', function(opts)
  if not is_file() then
    if opts.args == '' then
      vim.notify('Ask something, or select lines of a file.', vim.log.levels.WARN)
    else
      request('gemini/chat', { prompt = opts.args, workDoneToken = 'gemini-chat' })
    end
    return
  end
  with_client(function(client)
    local place = vim.lsp.util.make_range_params(0, client.offset_encoding)
    if opts.range > 0 then
      place = vim.lsp.util.make_given_range_params({ opts.line1, 0 }, { opts.line2, vim.v.maxcol }, 0, client.offset_encoding)
    end
    place.context = { diagnostics = {} }
    client:request('textDocument/codeAction', place, function(_, actions) -- this also tells Gemini where you are
      local offered = actions and actions[1] and actions[1].command.arguments[1].prompt
      if opts.args ~= '' or offered then
        request('gemini/chat', { prompt = opts.args ~= '' and opts.args or offered, workDoneToken = 'gemini-chat' })
      else
        vim.notify('Gemini is not shown this file.', vim.log.levels.WARN)
      end
    end)
  end)
end, { nargs = '*', range = true })
command('GeminiCompress', function(opts)
  request('gemini/compress', { instructions = opts.args, workDoneToken = 'gemini-compress' })
end, { nargs = '*' })
command('GeminiStatus', function() -- put into words by the server
  with_client(function(client)
    client:exec_cmd({ title = 'Status', command = 'gemini.compressionStatus' }, nil, function() end)
  end)
end, {})
command('GeminiUndo', function() request('gemini/compression/undo', {}) end, {})
command('GeminiCancel', function() request('gemini/cancel', {}) end, { range = true })
command('GeminiMode', function(opts) request('gemini/session/mode', { mode = opts.args }) end, {
  nargs = 1,
  complete = function() return { 'ask', 'acceptEdits', 'plan' } end,
})
command('GeminiRevert', function() request('gemini/changes/revert', {}) end, {})
