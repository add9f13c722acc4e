" Acts as a person in a Vim that was configured with nothing but the file that is shipped, and writes down what that person saw.
" A scenario defines Play() and fills g:record, which becomes the JSON file $RECORD.

let g:record = {}
let g:answered = 0
autocmd User GeminiAnswered let g:answered += 1

function! Await(what, Condition) abort
  for _ in range(3000)
    if a:Condition()
      return
    endif
    sleep 10m
  endfor
  throw 'waited in vain for ' .. a:what .. "\n" .. execute('messages') .. "\n" .. Answers()
endfunction

function! Answers() abort
  return join(getbufline(bufnr('\[Gemini\]'), 1, '$'), "\n")
endfunction

" What a command adds to the window with the answers.
function! Asked(command) abort
  let [before, answered] = [strchars(Answers()), g:answered]
  execute a:command
  call Await('the answer to ' .. a:command, {-> g:answered > answered})
  return strcharpart(Answers(), before)
endfunction

" What the person is shown in the message area next.
function! Shown(command) abort
  messages clear
  execute a:command
  call Await('a message after ' .. a:command, {-> trim(execute('messages')) !=# ''})
  return trim(execute('messages'))
endfunction

" Goes to what is asked, and says no to it.
function! Refuse(timer) abort
  if join(getbufline(bufnr('\[Gemini asks'), 1, 2)) =~# '^Gemini asks. To answer'
    GeminiRefuse
  endif
endfunction

try
  execute 'source' $SCENARIO
  call Play()
catch
  let g:record.problem = v:exception .. ' at ' .. v:throwpoint
endtry
call writefile([json_encode(g:record)], $RECORD)
qall!
