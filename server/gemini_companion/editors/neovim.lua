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
--
-- Before Gemini changes a file or runs a command, Neovim asks you (vim.ui.select); edits of open files can be undone with u.

vim.lsp.config('gemini_companion', {
  cmd = { 'gemini-companion', 'serve' },
  root_dir = function(buffer, on_dir) on_dir(vim.fs.root(buffer, '.git') or vim.fn.getcwd()) end,
  init_options = { trusted = true, supports = { 'saveDocument' } },
  handlers = { ['window/showMessage'] = function(_, params) vim.notify(params.message, 5 - params.type) end },
})
vim.lsp.enable('gemini_companion')

-- So far code actions work (gra), and their answers come as messages. From here on answers stream into a window of their own.
local answers = vim.api.nvim_create_buf(false, true)
vim.bo[answers].filetype = 'markdown'

local titles = {} -- of calls of tools

local function show(text)
  if vim.fn.bufwinid(answers) == -1 then
    vim.wo[vim.api.nvim_open_win(answers, false, { split = 'right' })].linebreak = true
  end
  vim.api.nvim_buf_set_text(answers, -1, -1, -1, -1, vim.split(text, '\n'))
  vim.api.nvim_win_set_cursor(vim.fn.bufwinid(answers), { vim.api.nvim_buf_line_count(answers), 0 })
end

vim.lsp.handlers['gemini/event'] = function(_, params)
  local event = params.event
  if event.type == 'turnStarted' then
    show('> ' .. (event.prompt[1].text or '…'):gsub('\n', '\n> ') .. '\n\n')
  elseif event.type == 'messageDelta' then
    show(event.text)
  elseif event.type == 'toolCallStarted' then
    titles[event.toolCallId] = event.title or event.name
  elseif event.type == 'toolCallCompleted' then
    show(('\n- %s: %s\n\n'):format(titles[event.toolCallId], event.summary or event.outcome))
  elseif event.type == 'messageDiscarded' then
    show('\n\n*(That was cut short. Once more:)*\n\n')
  elseif event.type == 'turnFailed' or event.type == 'turnCancelled' then
    show('\n\n*(No answer.)*\n\n')
  elseif event.type == 'turnCompleted' then
    show('\n\n')
  end
end

-- An edit of a file that you had saved is saved too, so that the commands Gemini runs see it. What you have not saved stays so.
vim.lsp.handlers['gemini/saveDocument'] = function(_, params)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(params.path, '\\[]*?{}') .. '$')
  if buffer == -1 then return { saved = false } end
  pcall(vim.api.nvim_buf_call, buffer, function() vim.cmd('silent write') end)
  return { saved = not vim.bo[buffer].modified }
end

vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(args)
    local value = args.data.params.value
    if vim.lsp.get_client_by_id(args.data.client_id).name == 'gemini_companion' then
      vim.api.nvim_echo({ { value.kind == 'end' and '' or value.title .. ': ' .. (value.message or '…') } }, false, {})
    end
  end,
})

local function with_client(act)
  local name = 'gemini_companion'
  local client = vim.lsp.get_clients({ name = name, bufnr = 0 })[1] or vim.lsp.get_clients({ name = name })[1]
  if client then
    act(client)
  else
    vim.notify('Gemini Companion is not running here (yet): it starts with the first file.', vim.log.levels.WARN)
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

vim.lsp.commands['gemini.chat'] = function(command) request('gemini/chat', command.arguments[1]) end -- what code actions run

local command = vim.api.nvim_create_user_command
command('Gemini', function(opts)
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
command('GeminiCancel', function() request('gemini/cancel', {}) end, {})
command('GeminiMode', function(opts) request('gemini/session/mode', { mode = opts.args }) end, {
  nargs = 1,
  complete = function() return { 'ask', 'acceptEdits', 'plan' } end,
})
command('GeminiRevert', function() request('gemini/changes/revert', {}) end, {})
