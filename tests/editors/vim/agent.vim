" The model is asked to change a file and to run something; what it asks is refused.
function! Play() abort
  let refusing = timer_start(10, 'Refuse', {'repeat': -1})
  let g:record.declined = Asked('Gemini rename total to sum_of in parser.py')
  let g:record.mode = Shown('GeminiMode acceptEdits')
  let g:record.changed = Asked('Gemini rename total to sum_of in parser.py')
  let g:record.buffer = join(getbufline('parser.py', 1, '$'), "\n")
  let g:record.reverted = Shown('GeminiRevert')
  call Await('the old text', {-> join(getbufline('parser.py', 1, '$'), "\n") !~# 'sum_of'})
endfunction
