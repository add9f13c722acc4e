-- No key, no network: the built-in model answers.
return function(person)
  local record, keys = person.record, person.keys

  -- A question about a selection, typed.
  record.selection = person.asked('2GVj:Gemini what does this do?<CR>')

  -- The same through the editor's own menu of code actions, where "Explain" is picked.
  local range = { start = { 6, 0 }, ['end'] = { 8, 12 } }
  record.explained = person.after('turnCompleted', function()
    vim.lsp.buf.code_action({ range = range, apply = true, filter = function(action) return action.title == 'Explain' end })
  end)
  record.answers = person.answers()

  -- Unsaved text.
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { '', 'def merge(left, right):', '    return sorted(left + right)' })
  record.unsaved_preview = person.request('gemini/context/preview')
  record.unsaved = person.asked(':Gemini where is merge defined?<CR>')

  -- A file that nobody may see.
  vim.cmd.edit('.env')
  person.await('the secret file', function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end)
  record.secret_refused = person.notified(function() keys(':Gemini<CR>') end)
  record.secret_preview = person.request('gemini/context/preview')
  record.secret = person.asked(':Gemini what does TOKEN hold?<CR>')
  vim.cmd.edit('parser.py')

  -- Until there is something to compress.
  record.small = person.notified(function() keys(':GeminiCompress<CR>') end)
  for number = 1, 6 do
    person.asked((':Gemini Never touch legacy/file%d.py. %s<CR>'):format(number, ('word%d '):format(number):rep(300)))
  end
  record.compressed = person.notified(function() keys(':GeminiCompress keep the numbers<CR>') end)
  record.status = person.notified(function() keys(':GeminiStatus<CR>') end)
  record.after_compression = person.asked(':Gemini and now?<CR>')
  record.undone = person.notified(function() keys(':GeminiUndo<CR>') end)
  record.after_undo = person.asked(':Gemini and again?<CR>')
  record.nothing_to_undo = person.notified(function() keys(':GeminiUndo<CR>') end)
  record.nothing_runs = person.notified(function() keys(':GeminiCancel<CR>') end)
end
