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
"   :GeminiAnswer               go to what Gemini asks, and answer it there
"
" Before Gemini changes a file or runs a command, it asks in a window beside yours. What you type elsewhere never answers: go there
" with :GeminiAnswer, for which you may want a key, such as
"   nnoremap <Leader>ga <Cmd>GeminiAnswer<CR>
" What Gemini changed on the disk is read in again, but for files with unsaved edits.
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
let s:has_text = 0 " whether the answer has shown anything
let s:questions = [] " those that wait, oldest first; the first is shown
let s:shown = {} " the question in the buffer
let s:reached = {} " the question that you went to; only its keys answer
let s:came_from = 0 " the window where you were then
let s:typed_for = {} " the question that waited when you began to type a command
let s:asked = -1 " the buffer
let s:corrected = -1 " the buffer with a text that you correct, while you are in it
let s:opened = {} " the changedtick that was sent last, by buffer number

" ---- windows

" Opens a window beside the others, which is not entered; what is selected stays so.
function! s:OpenBeside(split, buffer, options) abort
  let [here, mode] = [win_getid(), mode()]
  execute 'noautocmd' a:split
  try
    execute 'noautocmd buffer' a:buffer
    execute 'setlocal' a:options
  finally
    noautocmd call win_gotoid(here)
  endtry
  if mode =~# "^[vVsS\<C-V>\<C-S>]"
    execute 'normal! gv' .. (mode =~# "^[sS\<C-S>]" ? "\<C-G>" : '')
  endif
endfunction

" A buffer of that name with these options; made again, not just loaded, after :%bdelete, which takes options and keys of it.
function! s:Scratch(number, name, options) abort
  if bufloaded(a:number)
    return a:number
  endif
  if bufexists(a:number)
    execute 'silent bwipeout!' a:number
  endif
  let number = bufadd(a:name)
  call bufload(number)
  for [option, value] in items(extend({'&buftype': 'nofile', '&bufhidden': 'hide', '&swapfile': 0}, a:options))
    call setbufvar(number, option, value)
  endfor
  return number
endfunction

function! s:Show(text) abort
  let s:answers = s:Scratch(s:answers, '[Gemini]', {'&filetype': 'markdown'})
  if bufwinid(s:answers) == -1
    try
      call s:OpenBeside('vertical botright split', s:answers, 'wrap linebreak')
    catch " in the command-line window, or where there is no room
    endtry
  endif
  let lines = split(a:text, "\n", 1)
  call setbufline(s:answers, '$', getbufline(s:answers, '$')[0] .. lines[0])
  call appendbufline(s:answers, '$', lines[1:])
  if bufwinid(s:answers) != -1
    call win_execute(bufwinid(s:answers), 'normal! G')
  endif
endfunction

function! s:Notify(message, is_error = 0) abort
  redraw
  execute 'echohl' a:is_error ? 'ErrorMsg' : 'None'
  for line in split(a:message, "\n")
    echomsg line
  endfor
  echohl None
endfunction

" ---- what Gemini asks

function! s:InOneLine(text) abort " for the message area; a longer text would make Vim wait for a key
  let space = max([v:echospace, 20])
  return strdisplaywidth(a:text) <= space ? a:text : strcharpart(a:text, 0, space / 2) .. '...'
endfunction

function! s:IsForWords(question) abort " a question of the model, not for a permission
  return has_key(a:question.params, 'question')
endfunction

function! s:TextOf(question) abort
  return split(get(a:question.params, 'text', get(a:question.params, 'question', '')), "\n", 1)
endfunction

function! s:KeysOf(question) abort
  if s:IsForWords(a:question)
    return 'a number: that answer  r: in your own words (:GeminiReply)  n, Enter: no answer  q: later'
  endif
  return 'y: yes  ' .. (has_key(a:question.params, 'rule') ? 's: yes, for this session  a: yes, always  ' : '')
        \ .. 'n, Enter: no  r: no, and why (:GeminiRefuse)  '
        \ .. (has_key(a:question.params, 'newContent') || has_key(a:question.params, 'command') ? 'e: correct the text  ' : '') .. 'q: later'
endfunction

function! s:WriteQuestion() abort
  call s:MakeQuestionBuffer()
  let s:shown = get(s:questions, 0, {})
  let lines = ['Gemini asks nothing now.']
  if !empty(s:shown)
    let more = len(s:questions) - 1
    let lines = [(s:shown is s:reached ? s:KeysOf(s:shown) : 'Gemini asks. To answer: :GeminiAnswer')
          \ .. (more ? '  (' .. more .. ' more after this)' : ''), ''] + s:TextOf(s:shown)
    for [index, option] in items(get(s:shown.params, 'options', []))
      let lines += split((index + 1) .. ': ' .. option, "\n", 1)
    endfor
  endif
  call setbufvar(s:asked, '&modifiable', 1)
  if getbufline(s:asked, 2, '$') !=# lines[1:] " else the first line alone changes, and a reader stays where they are
    silent call deletebufline(s:asked, 1, '$')
  endif
  call setbufline(s:asked, 1, lines)
  call setbufvar(s:asked, '&modifiable', 0)
endfunction

function! s:OpenQuestion() abort " beside the other windows; it is not entered
  call s:MakeQuestionBuffer()
  if bufwinid(s:asked) == -1
    call s:OpenBeside('botright ' .. max([5, &lines * 4 / 10]) .. 'split', s:asked,
          \ 'wrap nolinebreak nolist nofoldenable conceallevel=0 nodiff noscrollbind nocursorbind')
  endif
  return bufwinid(s:asked)
endfunction

function! s:MakeQuestionBuffer() abort
  if !bufloaded(s:asked)
    let s:asked = s:Scratch(s:asked, '[Gemini asks]', {'&buflisted': 0, '&syntax': 'diff'})
    execute 'autocmd gemini_companion BufLeave <buffer=' .. s:asked .. '> let s:reached = {}'
  endif
endfunction

function! s:Refresh() abort " after the list has changed
  call s:MakeQuestionBuffer()
  let first = get(s:questions, 0, {})
  if s:reached isnot first
    let s:reached = {}
  endif
  let is_new = !empty(first) && first isnot s:shown
  call s:WriteQuestion()
  if is_new
    try
      call win_execute(s:OpenQuestion(), 'normal! gg')
    catch " in the command-line window, or where there is no room
    endtry
    call s:Warn('Gemini asks (:GeminiAnswer): ' .. s:TextOf(first)[0])
  elseif empty(first)
    for window in filter(win_findbuf(s:asked), {_, id -> id != win_getid()})
      silent! call win_execute(window, 'noautocmd close')
    endfor
  endif
endfunction

function! s:Warn(text) abort
  redraw
  echohl WarningMsg
  echomsg s:InOneLine(a:text)
  echohl None
endfunction

function! s:Question(id, params) abort
  call add(s:questions, {'id': a:id, 'params': a:params})
  call s:Refresh()
  if len(s:questions) > 1
    call s:Warn('Gemini asks more after this: ' .. s:TextOf(s:questions[-1])[0])
  endif
endfunction

function! s:Drop(Condition) abort " what nobody waits for any more
  call filter(s:questions, {_, question -> !a:Condition(question)})
  if bufexists(s:asked)
    call s:Refresh()
  endif
endfunction

function! s:GoBack() abort
  call win_gotoid(s:came_from)
  let s:came_from = 0
endfunction

function! s:Settle(question, result) abort
  if index(s:questions, a:question) == -1
    return s:Warn('Nobody waits for that answer any more.')
  endif
  call s:GoBack() " first, so that the window can close
  call filter(s:questions, {_, one -> one isnot a:question})
  call s:Synchronise() " what was edited since it was asked
  call ch_sendexpr(s:job, {'id': a:question.id, 'result': a:result})
  call s:Refresh()
endfunction

function! s:Key(key) abort
  let question = s:reached
  if empty(question) || question isnot get(s:questions, 0, {})
    return s:Warn('First go to the question: :GeminiAnswer')
  endif
  let [params, is_for_words] = [question.params, s:IsForWords(question)]
  if a:key ==# 'n'
    call s:Settle(question, is_for_words ? {} : {'outcome': 'reject'})
  elseif a:key ==# 'r'
    call feedkeys(is_for_words ? ':GeminiReply ' : ':GeminiRefuse ', 'ni')
  elseif a:key ==# 'q'
    let s:reached = {}
    call s:WriteQuestion()
    call s:GoBack()
  elseif is_for_words
    if a:key =~# '\d' && a:key <= len(get(params, 'options', []))
      call s:Settle(question, {'answer': params.options[a:key - 1]})
    endif
  elseif a:key ==# 'y'
    call s:Settle(question, {'outcome': 'once'})
  elseif (a:key ==# 's' || a:key ==# 'a') && has_key(params, 'rule')
    call s:Settle(question, {'outcome': a:key ==# 's' ? 'session' : 'always'})
  elseif a:key ==# 'e' && (has_key(params, 'newContent') || has_key(params, 'command'))
    call s:Correct(question)
  endif
endfunction

function! s:Correct(question) abort " the text as you change it; writing it is the yes to it
  let params = a:question.params
  let is_command = !has_key(params, 'newContent')
  let text = substitute(is_command ? params.command : params.newContent, "\r\n", "\n", 'g')
  let ends = !is_command && text =~# "\n$" ? "\n" : ''
  let buffer = bufadd('[Gemini text ' .. params.toolCallId .. ']')
  call bufload(buffer)
  for [option, value] in items({'&buftype': 'acwrite', '&bufhidden': 'hide', '&swapfile': 0, '&undolevels': 1000})
    call setbufvar(buffer, option, value)
  endfor
  execute 'buffer' buffer
  silent %delete _
  call setline(1, split(ends ==# '' ? text : text[:-2], "\n", 1))
  setlocal nomodified
  let b:gemini_companion = {'question': a:question, 'text': text, 'ends': ends, 'is_command': is_command}
  let s:corrected = buffer
  autocmd gemini_companion BufEnter <buffer> let s:corrected = bufnr()
  autocmd gemini_companion BufLeave <buffer> let s:corrected = -1
  autocmd gemini_companion BufWriteCmd <buffer> call s:WriteCorrection()
  call s:Warn('Write it (:w) to say yes to it as it is then.')
endfunction

function! s:WriteCorrection() abort
  let [own, buffer] = [b:gemini_companion, bufnr()]
  if s:corrected != buffer " :wall elsewhere, or a plugin that saves
    return s:Warn('Gemini still asks: go to the text, and write it there to say yes.')
  endif
  let changed = join(getline(1, '$'), "\n") .. own.ends
  let result = {'outcome': 'once'}
  if changed !=# own.text && own.is_command
    let result.editedArgs = extend(copy(own.question.params.args), {'command': changed})
  elseif changed !=# own.text
    let result.editedContent = changed
  endif
  setlocal nomodified
  " Only once Vim waits for you again: :wqall writes, and has Vim end, before that.
  call timer_start(0, {-> s:AgreeToCorrection(own.question, result, buffer)})
endfunction

function! s:AgreeToCorrection(question, result, buffer) abort
  if v:exiting isnot v:null
    return
  endif
  call s:Settle(a:question, a:result)
  execute 'silent! bwipeout!' a:buffer
endfunction

" A text that you correct does not keep Vim from ending. Nor is its end a yes, as :wqall or 'autowriteall' would have it.
function! s:LetGoOfCorrections() abort
  for info in filter(getbufinfo(), {_, info -> has_key(info.variables, 'gemini_companion')})
    call setbufvar(info.bufnr, '&modified', 0)
  endfor
endfunction

function! s:GoToQuestion() abort
  if empty(s:questions)
    return s:Warn('Gemini asks nothing now.')
  endif
  let here = win_getid()
  call win_gotoid(s:OpenQuestion())
  stopinsert
  for key in ['y', 's', 'a', 'n', 'r', 'e', 'q', '1', '2', '3', '4', '5', '6', '7', '8', '9']
    execute 'nnoremap <buffer> <nowait> <silent>' key '<Cmd>call <SID>Key("' .. key .. '")<CR>'
  endfor
  nnoremap <buffer> <nowait> <silent> <CR> <Cmd>call <SID>Key('n')<CR>
  let s:came_from = here == win_getid() ? s:came_from : here
  let s:reached = s:questions[0]
  call s:WriteQuestion()
  normal! gg
endfunction

function! s:Say(words, is_for_words) abort
  let typed_for = s:typed_for
  let s:typed_for = {}
  if !empty(typed_for) && typed_for isnot get(s:questions, 0, {})
    call s:Warn('Gemini asks something else by now: your words were for what it asked before.')
  elseif empty(s:questions) || s:IsForWords(s:questions[0]) != a:is_for_words
    call s:Warn(a:is_for_words ? 'Gemini asks you nothing that words answer. :GeminiRefuse says no, and why.' : 'Gemini asks for no permission now.')
  else
    call s:Settle(s:questions[0], a:is_for_words ? {'answer': a:words} : {'outcome': 'reject', 'reason': a:words})
  endif
endfunction

" ---- what the daemon sends

function! s:Receive(channel, message) abort
  let method = get(a:message, 'method', '')
  if method ==# 'gemini/event'
    call s:ShowEvent(a:message.params.event)
  elseif method ==# 'gemini/confirmTool' || method ==# 'gemini/askUser'
    call s:Question(a:message.id, a:message.params)
  elseif method ==# '$/cancelRequest'
    call s:Drop({question -> question.id == a:message.params.id})
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
    let s:has_text = 0
    call s:Show('> ' .. substitute(get(a:event.prompt[0], 'text', '...'), "\n", "\n> ", 'g') .. "\n\n")
  elseif a:event.type ==# 'messageDelta'
    let s:has_text = 1
    call s:Show(a:event.text)
  elseif a:event.type ==# 'toolCallStarted'
    let s:titles[a:event.toolCallId] = get(a:event, 'title', a:event.name)
  elseif a:event.type ==# 'toolCallCompleted'
    call s:Show("\n- " .. s:titles[a:event.toolCallId] .. ': ' .. get(a:event, 'summary', a:event.outcome) .. "\n\n")
    call s:ReadAgain()
  elseif a:event.type ==# 'messageDiscarded'
    call s:Show("\n\n*(That was cut short. Once more:)*\n\n")
  elseif a:event.type ==# 'turnFailed' || a:event.type ==# 'turnCancelled'
    call s:Show(s:has_text ? "\n\n*(It ends here.)*\n\n" : "\n\n*(No answer.)*\n\n")
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
  call s:Drop({_ -> 1})
  let s:job = job_start(g:gemini_companion_command,
        \ {'in_mode': 'lsp', 'out_mode': 'lsp', 'err_io': 'null', 'noblock': 1, 'callback': function('s:Receive'),
        \ 'exit_cb': {job, _ -> job is s:job ? s:Ended() : 0}})
  let root = s:Uri(getcwd())
  let answer = ch_evalexpr(s:job, {'method': 'initialize', 'params': {
        \ 'processId': getpid(), 'rootUri': root, 'workspaceFolders': [{'uri': root, 'name': fnamemodify(getcwd(), ':t')}],
        \ 'clientInfo': {'name': 'Vim'}, 'capabilities': {'general': {'positionEncodings': ['utf-32']}},
        \ 'initializationOptions': {'trusted': v:true, 'supports': ['confirmTool', 'questionText', 'askUser']}}}, {'timeout': 20000})
  if type(answer) != v:t_dict || !has_key(answer, 'result')
    call s:Notify('Gemini Companion does not start: run gemini-companion doctor.', 1)
    return 0
  endif
  call s:Send('initialized', {})
  return 1
endfunction

function! s:Ended() abort
  call s:Drop({_ -> 1})
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

" What has no unsaved edits, and was changed on the disk. About all others Vim would ask, and take what you type for the answer.
function! s:ReadAgain() abort
  for info in filter(getbufinfo({'bufloaded': 1}), {_, info -> info.name !=# '' && !info.changed && getbufvar(info.bufnr, '&buftype') ==# ''})
    if getbufvar(info.bufnr, 'gemini_companion_has_file', 0)
      let event = 'FileChangedShell <buffer=' .. info.bufnr .. '>'
      execute 'autocmd gemini_companion' event 'let v:fcs_choice = "reload"'
      execute 'silent! checktime' info.bufnr
      execute 'autocmd! gemini_companion' event
    elseif filereadable(info.name) && !empty(info.windows)
      call win_execute(info.windows[0], 'silent! edit')
    endif
  endfor
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
command! -range GeminiCancel call s:Run('gemini/cancel', {})
command! -nargs=1 GeminiMode call s:Run('gemini/session/mode', {'mode': <q-args>})
command! GeminiRevert call s:Run('gemini/changes/revert', {})
command! -range GeminiAnswer call s:GoToQuestion()
command! -range -nargs=* GeminiRefuse call s:Say(<q-args>, 0)
command! -range -nargs=+ GeminiReply call s:Say(<q-args>, 1)

augroup gemini_companion
  autocmd!
  autocmd ExitPre * call s:LetGoOfCorrections()
  autocmd CmdlineEnter : let s:typed_for = get(s:questions, 0, {})
  autocmd CmdlineLeave : if get(v:event, 'abort', 0) | let s:typed_for = {} | endif
  autocmd BufReadPost,BufWritePost * let b:gemini_companion_has_file = 1
  autocmd VimLeavePre * call s:Stop()
augroup END
