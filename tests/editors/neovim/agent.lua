-- The model reads, changes a file and runs a command; the person answers in the editor's own menu, and takes it back.
return function(person)
  local record, keys = person.record, person.keys
  record.asked = {}
  vim.ui.select = function(actions, opts, choose)
    table.insert(record.asked, opts.prompt)
    for _, action in ipairs(actions) do
      if action.title == 'Yes' then return choose(action) end
    end
  end

  record.worked = person.asked(':Gemini Split at commas.<CR>')
  record.buffer = person.lines()
  record.disk = table.concat(vim.fn.readfile('parser.py'), '\n')
  record.unsaved = vim.bo[vim.fn.bufnr('parser.py')].modified

  -- A command that is stopped half way.
  record.stopped = person.after('turnCancelled', function()
    local before = person.count('toolCallProgress')
    keys(':Gemini Wait for ever.<CR>')
    person.await('the command', function() return person.count('toolCallProgress') > before end)
    keys(':GeminiCancel<CR>')
  end)

  record.reverted = person.notified(function() keys(':GeminiRevert<CR>') end)
  person.await('the old text', function() return not person.lines():find("split(',')", 1, true) end)
  record.buffer_after = person.lines()
  record.mode = person.notified(function() keys(':GeminiMode plan<CR>') end)
end
