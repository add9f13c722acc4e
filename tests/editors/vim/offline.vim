" No key, no network: the built-in model answers.
function! Play() abort
  let g:record.selection = Asked('2,3Gemini what does this do?')
  let g:record.window = winnr('$')
  let g:record.explained = Asked('6,8Gemini')

  call append('$', ['', 'def merge(left, right):', '    return sorted(left + right)'])
  let g:record.unsaved = Asked('Gemini where is merge defined?')

  silent edit! .env
  let g:record.secret_refused = Shown('Gemini')
  let g:record.secret = Asked('Gemini what does TOKEN hold?')
  silent edit! parser.py

  let g:record.small = Shown('GeminiCompress')
  for number in range(1, 6)
    call Asked(printf('Gemini Never touch legacy/file%d.py. %s', number, repeat('word' .. number .. ' ', 300)))
  endfor
  let g:record.compressed = Shown('GeminiCompress keep the numbers')
  let g:record.status = Shown('GeminiStatus')
  let g:record.undone = Shown('GeminiUndo')
  let g:record.after_undo = Asked('Gemini and again?')
  let g:record.nothing_to_undo = Shown('GeminiUndo')
  let g:record.nothing_runs = Shown('GeminiCancel')
endfunction
