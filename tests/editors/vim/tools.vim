" The model is asked to change a file and to run something; what it asks is refused.
function! Play() abort
  let refusing = timer_start(10, 'Refuse', {'repeat': -1})
  let g:record.declined = Asked('Gemini Run it.')
  let g:record.mode = Shown('GeminiMode acceptEdits')
  let g:record.worked = Asked('Gemini Split at commas.')
  let g:record.buffer = join(getbufline('parser.py', 1, '$'), "\n")
  let g:record.on_disk = join(readfile('parser.py'), "\n")
endfunction
