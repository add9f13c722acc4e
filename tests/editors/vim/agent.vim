" The built-in model is plainly asked to change a file and to run something; without a terminal Vim answers no by itself.
function! Play() abort
  let g:record.declined = Asked('Gemini rename total to sum_of in parser.py')
  let g:record.mode = Shown('GeminiMode acceptEdits')
  let g:record.changed = Asked('Gemini rename total to sum_of in parser.py')
  let g:record.buffer = join(getbufline('parser.py', 1, '$'), "\n")
  let g:record.reverted = Shown('GeminiRevert')
  call Await('the old text', {-> join(getbufline('parser.py', 1, '$'), "\n") !~# 'sum_of'})
endfunction
