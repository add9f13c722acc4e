-- The model reads, changes a file and runs a command; the person goes to each question, says yes to it, and takes the change back.
return function(person)
  local record, keys = person.record, person.keys
  record.asked = {}
  vim.ui.select = function() error('a menu of a plugin is no place for consent') end
  local function question() return table.concat(vim.fn.getbufline('gemini://question', 1, '$'), '\n') end -- empty before the first
  local answering = vim.uv.new_timer()
  answering:start(10, 10, vim.schedule_wrap(function()
    local asked = question():match('^Gemini asks. To answer: :GeminiAnswer\n\n(.*)')
    if asked then
      table.insert(record.asked, asked)
      keys(':GeminiAnswer<CR>y')
    end
  end))

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

  answering:close()
  record.reverted = person.notified(function() keys(':GeminiRevert<CR>') end)
  person.await('the old text', function() return not person.lines():find("split(',')", 1, true) end)
  record.buffer_after = person.lines()
  record.mode = person.notified(function() keys(':GeminiMode plan<CR>') end)
end
