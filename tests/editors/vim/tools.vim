" The model reads, changes a file and runs a command. Without a terminal Vim's confirm() answers by its last button, which is no;
" what a person would press is put into the answers to the editor's requests instead.
function! Play() abort
  let g:record.declined = Asked('Gemini Run it.')
  let g:record.mode = Shown('GeminiMode acceptEdits')
  let g:record.worked = Asked('Gemini Split at commas.')
  let g:record.buffer = join(getbufline('parser.py', 1, '$'), "\n")
  let g:record.on_disk = join(readfile('parser.py'), "\n")
endfunction
