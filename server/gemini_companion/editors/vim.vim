" Gemini Companion in Vim 9, with no plugin: a small client of its own. Put this file at ~/.vim/plugin/gemini.vim:
"   gemini-companion editor vim > ~/.vim/plugin/gemini.vim
"
"   :Gemini why is this slow?   ask; with a selection (:'<,'>Gemini ...) about those lines, else about where the cursor is
"   :'<,'>Gemini                ask what the selected lines do
"   :GeminiCompress [guidance]  compress the chat
"   :GeminiStatus               show where compression stands
"   :GeminiUndo                 take the last compression back
"   :GeminiCancel               stop the answer, the command or the compression that runs
"   :GeminiMode plan            only look; or ask (before anything is changed or run), acceptEdits
"   :GeminiRevert               take the newest change of files back
"
" Before Gemini changes a file or runs a command, Vim asks you; what it changed on the disk is read in again.
"
"   autocmd User GeminiAnswered ...   do something after every answer
"
" The daemon starts with the first command, in the folder where Vim is then.

if exists('g:loaded_gemini_companion') || !has('job') || !has('channel') || !has('patch-9.0.0')
  finish
endif
let g:loaded_gemini_companion = 1
let g:gemini_companion_command = get(g:, 'gemini_companion_command', ['gemini-companion', 'serve'])

let s:job = v:null
let s:answers = -1
let s:titles = {} " of calls of tools
let s:opened = {} " the changedtick that was sent last, by buffer number

" ---- the window with the answers

function! s:Show(text) abort
  if !bufexists(s:answers)
    let s:answers = bufadd('[Gemini]')
    call bufload(s:answers)
    for [option, value] in items({'&buftype': 'nofile', '&bufhidden': 'hide', '&swapfile': 0, '&filetype': 'markdown'})
      call setbufvar(s:answers, option, value)
    endfor
  endif
  if bufwinid(s:answers) == -1
    let here = win_getid()
    execute 'vertical botright sbuffer' s:answers
    setlocal wrap linebreak
    call win_gotoid(here)
  endif
  let lines = split(a:text, "\n", 1)
  call setbufline(s:answers, '$', getbufline(s:answers, '$')[0] .. lines[0])
  call appendbufline(s:answers, '$', lines[1:])
  call win_execute(bufwinid(s:answers), 'normal! G')
endfunction

function! s:Notify(message, is_error = 0) abort
  redraw
  execute 'echohl' a:is_error ? 'ErrorMsg' : 'None'
  for line in split(a:message, "\n")
    echomsg line
  endfor
  echohl None
endfunction

" ---- what the daemon sends

function! s:Receive(channel, message) abort
  let method = get(a:message, 'method', '')
  if method ==# 'gemini/event'
    call s:ShowEvent(a:message.params.event)
  elseif method ==# 'window/showMessageRequest'
    let titles = map(copy(get(a:message.params, 'actions', [])), {_, action -> action.title})
    let chosen = confirm(a:message.params.message, join(titles, "\n"), len(titles), 'Question')
    call ch_sendexpr(s:job, {'id': a:message.id, 'result': chosen > 0 ? {'title': titles[chosen - 1]} : v:null})
  elseif method ==# 'window/showMessage'
    call s:Notify(a:message.params.message, a:message.params.type == 1)
  elseif method ==# '$/progress'
    let value = a:message.params.value
    redraw
    echo value.kind ==# 'end' ? '' : get(value, 'title', 'Gemini') .. ': ' .. get(value, 'message', '...')
  endif
endfunction

function! s:ShowEvent(event) abort
  if a:event.type ==# 'turnStarted'
    call s:Show('> ' .. substitute(get(a:event.prompt[0], 'text', '...'), "\n", "\n> ", 'g') .. "\n\n")
  elseif a:event.type ==# 'messageDelta'
    call s:Show(a:event.text)
  elseif a:event.type ==# 'toolCallStarted'
    let s:titles[a:event.toolCallId] = get(a:event, 'title', a:event.name)
  elseif a:event.type ==# 'toolCallCompleted'
    call s:Show("\n- " .. s:titles[a:event.toolCallId] .. ': ' .. get(a:event, 'summary', a:event.outcome) .. "\n\n")
    call s:ReadAgain()
  elseif a:event.type ==# 'messageDiscarded'
    call s:Show("\n\n*(That was cut short. Once more:)*\n\n")
  elseif a:event.type ==# 'turnFailed' || a:event.type ==# 'turnCancelled'
    call s:Show("\n\n*(No answer.)*\n\n")
  elseif a:event.type ==# 'turnCompleted'
    call s:Show("\n\n")
  endif
  if a:event.type =~# '^turn\(Completed\|Failed\|Cancelled\)$' && exists('#User#GeminiAnswered')
    doautocmd <nomodeline> User GeminiAnswered
  endif
endfunction

" ---- the connection

function! s:Send(method, params) abort
  call ch_sendexpr(s:job, {'method': a:method, 'params': a:params})
endfunction

function! s:Request(method, params, ...) abort
  let Then = a:0 ? a:1 : function('s:ShowOutcome')
  call ch_sendexpr(s:job, {'method': a:method, 'params': a:params}, {'callback': {_, answer -> s:Answered(answer, Then)}})
endfunction

function! s:Answered(answer, Then) abort
  if !has_key(a:answer, 'error')
    call a:Then(a:answer.result)
  elseif a:answer.error.code != -32800 " which says: cancelled
    let data = get(a:answer.error, 'data', {})
    let hint = type(data) == v:t_dict ? get(data, 'hint', '') : ''
    call s:Notify(trim(a:answer.error.message .. ' ' .. hint), 1)
  endif
endfunction

function! s:ShowOutcome(result) abort
  if type(a:result) != v:t_dict
    return
  endif
  let compression = get(a:result, 'compression', v:null)
  if has_key(a:result, 'message')
    call s:Notify(a:result.message)
  elseif has_key(a:result, 'mode')
    call s:Notify('Mode: ' .. a:result.mode)
  elseif has_key(a:result, 'reverted')
    for conflict in a:result.conflicts
      call s:Notify(conflict.path .. ' is left as it is: ' .. conflict.reason)
    endfor
    call s:Notify('Put back: ' .. join(a:result.reverted, ', '))
    call s:ReadAgain()
  elseif type(compression) == v:t_dict
    call s:Notify(compression.message)
  elseif get(a:result, 'cancelled', v:true) is v:false
    call s:Notify('Nothing is running.')
  endif
endfunction

function! s:Start() abort
  if s:job isnot v:null && job_status(s:job) ==# 'run'
    return 1
  endif
  if !executable(g:gemini_companion_command[0])
    call s:Notify(g:gemini_companion_command[0] .. ' is not on the PATH: install Gemini Companion, or set g:gemini_companion_command.', 1)
    return 0
  endif
  let s:opened = {}
  let s:job = job_start(g:gemini_companion_command,
        \ {'in_mode': 'lsp', 'out_mode': 'lsp', 'err_io': 'null', 'noblock': 1, 'callback': function('s:Receive')})
  let root = s:Uri(getcwd())
  let answer = ch_evalexpr(s:job, {'method': 'initialize', 'params': {
        \ 'processId': getpid(), 'rootUri': root, 'workspaceFolders': [{'uri': root, 'name': fnamemodify(getcwd(), ':t')}],
        \ 'clientInfo': {'name': 'Vim'}, 'capabilities': {'general': {'positionEncodings': ['utf-32']}},
        \ 'initializationOptions': {'trusted': v:true}}}, {'timeout': 20000})
  if type(answer) != v:t_dict || !has_key(answer, 'result')
    call s:Notify('Gemini Companion does not start: run gemini-companion doctor.', 1)
    return 0
  endif
  call s:Send('initialized', {})
  return 1
endfunction

function! s:Stop() abort
  if s:job isnot v:null && job_status(s:job) ==# 'run'
    call ch_evalexpr(s:job, {'method': 'shutdown', 'params': v:null}, {'timeout': 2000})
    call s:Send('exit', v:null)
  endif
endfunction

" ---- what the model may see: the files that are open, as they are, unsaved edits included

function! s:Uri(path) abort
  let path = fnamemodify(a:path, ':p')
  let path = path ==# '/' ? path : substitute(path, '/$', '', '')
  let Encode = {_, byte -> nr2char(byte) =~# '[A-Za-z0-9/._~-]' ? nr2char(byte) : printf('%%%02X', byte)}
  return 'file://' .. join(map(range(strlen(path)), {_, index -> Encode(0, char2nr(strpart(path, index, 1)))}), '')
endfunction

function! s:Synchronise() abort
  let loaded = filter(getbufinfo({'bufloaded': 1}), {_, info -> info.name !=# '' && getbufvar(info.bufnr, '&buftype') ==# ''})
  for info in loaded
    let document = {'uri': s:Uri(info.name), 'version': info.changedtick}
    let Text = {-> join(getbufline(info.bufnr, 1, '$'), "\n") .. "\n"}
    if !has_key(s:opened, info.bufnr)
      call extend(document, {'languageId': getbufvar(info.bufnr, '&filetype'), 'text': Text()})
      call s:Send('textDocument/didOpen', {'textDocument': document})
    elseif s:opened[info.bufnr].version != info.changedtick
      call s:Send('textDocument/didChange', {'textDocument': document, 'contentChanges': [{'text': Text()}]})
    endif
    let s:opened[info.bufnr] = {'uri': document.uri, 'version': info.changedtick}
  endfor
  let numbers = map(loaded, {_, info -> info.bufnr})
  for [number, document] in items(s:opened)
    if index(numbers, str2nr(number)) == -1
      call s:Send('textDocument/didClose', {'textDocument': {'uri': document.uri}})
      call remove(s:opened, number)
    endif
  endfor
endfunction

function! s:ReadAgain() abort " what has no unsaved edits, and was changed on the disk
  let kept = &autoread
  set autoread
  silent! checktime
  let &autoread = kept
  call s:Synchronise()
endfunction

" ---- the commands

function! s:Ask(prompt, first, last, is_range) abort
  if !s:Start()
    return
  endif
  call s:Synchronise()
  if &buftype !=# '' || expand('%') ==# ''
    return a:prompt ==# '' ? s:Notify('Ask something, or select lines of a file.') : s:Chat(a:prompt)
  endif
  let cursor = {'line': line('.') - 1, 'character': charcol('.') - 1}
  let range = {'start': cursor, 'end': cursor}
  if a:is_range
    let range = {'start': {'line': a:first - 1, 'character': 0}, 'end': {'line': a:last - 1, 'character': strchars(getline(a:last))}}
  endif
  " The answer offers a prompt; the question itself lets the model know where you are.
  call s:Request('textDocument/codeAction', {'textDocument': {'uri': s:Uri(expand('%'))}, 'range': range, 'context': {'diagnostics': []}},
        \ {actions -> s:AskWith(a:prompt, actions)})
endfunction

function! s:AskWith(prompt, actions) abort
  if a:prompt !=# ''
    call s:Chat(a:prompt)
  elseif type(a:actions) == v:t_list && !empty(a:actions)
    call s:Chat(a:actions[0].command.arguments[0].prompt)
  else
    call s:Notify('Gemini is not shown this file.', 1)
  endif
endfunction

function! s:Chat(prompt) abort
  call s:Request('gemini/chat', {'prompt': a:prompt, 'workDoneToken': 'gemini-chat'})
endfunction

function! s:Run(method, params, ...) abort
  if s:Start()
    call call('s:Request', [a:method, a:params] + a:000)
  endif
endfunction

command! -nargs=* -range Gemini call s:Ask(<q-args>, <line1>, <line2>, <range>)
command! -nargs=* GeminiCompress call s:Run('gemini/compress', {'instructions': <q-args>, 'workDoneToken': 'gemini-compress'})
" The daemon puts the status into words, and sends them as a message.
command! GeminiStatus call s:Run('workspace/executeCommand', {'command': 'gemini.compressionStatus'}, {_ -> 0})
command! GeminiUndo call s:Run('gemini/compression/undo', {})
command! GeminiCancel call s:Run('gemini/cancel', {})
command! -nargs=1 GeminiMode call s:Run('gemini/session/mode', {'mode': <q-args>})
command! GeminiRevert call s:Run('gemini/changes/revert', {})

augroup gemini_companion
  autocmd!
  autocmd VimLeavePre * call s:Stop()
augroup END
