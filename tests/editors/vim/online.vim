" The real SDK, speaking to an emulated service that holds the end of its story back.
function! Play() abort
  call setline(1, 'UNSAVED = "only in the buffer"')
  let g:record.selection = Asked('2,3Gemini what does this do?')
  Gemini tell me a long story
  call Await('the first words', {-> Answers() =~# 'Once upon'})
  let g:record.cancelled = Asked('GeminiCancel')
  let g:record.after_cancel = Asked('Gemini and now?')
endfunction
