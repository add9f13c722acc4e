" Answers the test: the expression in the file $ASKED, as JSON. For Vim and Neovim.
set paste

function! s:Look(timer) abort
  if !filereadable($ASKED)
    return
  endif
  let expression = join(readfile($ASKED), "\n")
  call delete($ASKED)
  try
    let answer = {'value': eval(expression)}
  catch
    let answer = {'problem': v:exception}
  endtry
  call writefile([json_encode(answer)], $ASKED .. '.writing')
  call rename($ASKED .. '.writing', $ASKED .. '.reply')
endfunction

call timer_start(10, function('s:Look'), {'repeat': -1})
