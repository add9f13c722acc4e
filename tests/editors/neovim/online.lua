-- The real SDK, speaking to the emulator; the test holds two of its answers back.
return function(person)
  local record, keys = person.record, person.keys

  vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'UNSAVED = "only in the buffer"' })
  vim.cmd.edit({ '.env', bang = true })
  vim.cmd.buffer('parser.py')
  record.selection = person.asked('2GVj:Gemini what does this do?<CR>')

  -- An answer that is cancelled when a part of it can be seen.
  person.rendezvous('answer')
  record.cancelled_turn = person.after('turnCancelled', function()
    keys(':Gemini tell me a long story<CR>')
    person.await('the first words', function() return person.answers():find('Once upon', 1, true) ~= nil end)
    keys(':GeminiCancel<CR>')
  end)
  record.answers = person.answers()

  for number = 1, 6 do
    person.asked((':Gemini note %d: %s<CR>'):format(number, ('word%d '):format(number):rep(300)))
  end

  -- A compression that is cancelled while the summariser thinks.
  record.cancelled_compression = person.after('compressionCancelled', function()
    keys(':GeminiCompress<CR>')
    person.rendezvous('compression')
    record.while_running = person.request('gemini/compressionStatus')
    keys(':GeminiCancel<CR>')
  end)
  person.await('the end of the bar', function() return record.progress[#record.progress].value.kind == 'end' end)
  record.after_cancel = person.request('gemini/compressionStatus')

  -- Again, by the server's command, to the end.
  record.compressed = person.notified(function()
    person.client():exec_cmd({ title = 'Compress', command = 'gemini.compress', arguments = { { workDoneToken = 'by command' } } })
  end)
  record.status = person.notified(function() keys(':GeminiStatus<CR>') end)
  record.after_compression = person.asked(':Gemini what did we say of note 6?<CR>')
  record.undone = person.notified(function() keys(':GeminiUndo<CR>') end)
  record.after_undo = person.asked(':Gemini and of note 1?<CR>')

  -- A service that refuses.
  person.rendezvous('fault')
  record.fault = person.notified(function() keys(':Gemini are you there?<CR>') end)
  record.after_fault = person.asked(':Gemini and now?<CR>')
end
