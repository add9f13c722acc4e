;;; gemini-companion.el --- Gemini Companion through eglot  -*- lexical-binding: t -*-

;; For Emacs 29 or newer, or Emacs 28 with the package eglot. Load this file from your init file:
;;   gemini-companion editor emacs > ~/.emacs.d/gemini-companion.el
;;   (load (locate-user-emacs-file "gemini-companion"))
;;
;; M-x gemini starts it, beside whatever eglot runs in a buffer:
;;
;;   M-x gemini                  ask; about the lines of the region if there is one, else about where point is
;;   M-x gemini-answer           go to what Gemini asks, and answer it there
;;   M-x gemini-compress         compress the chat; with a prefix argument it asks what to heed
;;   M-x gemini-status           show where compression stands
;;   M-x gemini-undo             take the last compression back
;;   M-x gemini-cancel           stop the answer, the command or the compression that runs
;;   M-x gemini-set-mode         only look; or ask (before anything is changed or run), acceptEdits
;;   M-x gemini-revert           take the newest change of files back
;;
;; Before Gemini changes a file or runs a command, it asks in a window beside yours.  What you type elsewhere never answers: go
;; there with M-x gemini-answer, for which you may want a key.  What you agreed to is not asked about again by eglot.
;;
;; Code actions need eglot to manage the buffer through Gemini, and eglot manages a buffer through one server: M-x eglot in the
;; modes of `gemini-companion-modes', to which you add those that have no other.
;;
;;   M-x eglot-code-actions      the same questions as code actions (eglot waits 10 seconds for their answers, `gemini' longer)

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'eglot)
(require 'project)

(defvar gemini-companion-modes '(python-mode python-ts-mode text-mode)
  "Major modes whose buffers talk to Gemini Companion through eglot.")

(defvar gemini-companion-command '("gemini-companion" "serve")
  "The daemon's command line.")

(defvar gemini-companion-answered-hook nil
  "Hook run after every answer, also after one that failed or was cancelled.")

(defconst gemini-companion--patience 3600
  "Seconds that an answer or a compression may take.")

(defclass gemini-companion-server (eglot-lsp-server) ()
  "The daemon; what is defined for it here leaves other servers alone.")

(defun gemini-companion--contact ()
  "What eglot starts."
  `(,@gemini-companion-command
    :initializationOptions (:trusted t :supports ["confirmTool" "questionText" "askUser" "saveDocument"])))

(add-to-list 'eglot-server-programs `(,gemini-companion-modes . (gemini-companion-server ,@(gemini-companion--contact))))

;; ---- what Gemini asks

(defvar gemini-companion--questions nil
  "Those that wait, oldest first, as (:server :id :params); the first is shown.")
(defvar gemini-companion--shown nil "The question in the buffer.")
(defvar gemini-companion--reached nil "The question that the person went to; only its keys answer.")
(defvar gemini-companion--came-from nil "The window where the person was then.")

(defconst gemini-companion--place
  '((display-buffer-reuse-window display-buffer-in-side-window display-buffer-pop-up-window)
    (side . bottom) (window-height . 0.4) (inhibit-same-window . t) (inhibit-switch-frame . t))
  "How the question is displayed.")

(defvar gemini-companion-question-mode-map
  (let ((map (make-sparse-keymap)))
    (dolist (key '("y" "s" "a" "n" "r" "e" "q" "1" "2" "3" "4" "5" "6" "7" "8" "9"))
      (define-key map key #'gemini-companion-key))
    (define-key map (kbd "RET") #'gemini-companion-key)
    map)
  "Keys of a question that was gone to.")

(define-derived-mode gemini-companion-question-mode special-mode "Gemini asks"
  "What Gemini asks; its keys answer after \\[gemini-answer]."
  (setq-local bidi-paragraph-direction 'left-to-right ; a text in letters that go the other way does not turn the line
              truncate-lines nil
              truncate-partial-width-windows nil
              font-lock-defaults '((("^\\+.*$" . 'diff-added) ("^-.*$" . 'diff-removed)) t)))

;; In evil's other states its own commands would hide these keys.
(declare-function evil-set-initial-state "ext:evil-core" (mode state))
(with-eval-after-load 'evil-core
  (evil-set-initial-state 'gemini-companion-question-mode 'emacs))

(defun gemini-companion--param (question name)
  "The parameter NAME of QUESTION."
  (plist-get (plist-get question :params) name))

(defun gemini-companion--text (question)
  "The text of QUESTION."
  (or (gemini-companion--param question :text) (gemini-companion--param question :question)))

(defun gemini-companion--can-correct (question)
  "Whether QUESTION has a text that can be changed."
  (or (gemini-companion--param question :newContent) (gemini-companion--param question :command)))

(defun gemini-companion--legend (question)
  "The keys of QUESTION, and how many wait behind it."
  (concat
   (cond ((not (eq question gemini-companion--reached)) "Gemini asks. To answer: M-x gemini-answer")
         ((gemini-companion--param question :question) "a number: that answer  r: in your own words  n, RET: no answer  q: later")
         (t (concat "y: yes  " (and (gemini-companion--param question :rule) "s: yes, for this session  a: yes, always  ")
                    "n, RET: no  r: no, and why  "
                    (and (gemini-companion--can-correct question) "e: correct the text  ")
                    "q: later")))
   (and (cdr gemini-companion--questions) (format "  (%d more after this)" (length (cdr gemini-companion--questions))))))

(defun gemini-companion--write-question ()
  "Put the first question into its buffer, and return that.
Of one that stands there already only the keys are written:
a reader stays where they are."
  (with-current-buffer (get-buffer-create "*Gemini asks*")
    (unless (derived-mode-p 'gemini-companion-question-mode)
      (gemini-companion-question-mode))
    (let* ((inhibit-read-only t)
           (question (car gemini-companion--questions))
           (legend (if question (gemini-companion--legend question) "Gemini asks nothing now."))
           (number 0))
      (if (and question (eq question gemini-companion--shown) (> (buffer-size) 0))
          (save-excursion
            (goto-char (point-min))
            (insert legend)
            (delete-region (point) (line-end-position)))
        (erase-buffer)
        (insert legend "\n")
        (when question
          (insert "\n" (gemini-companion--text question) "\n")
          (mapc (lambda (option) (insert (format "%d: %s\n" (cl-incf number) option)))
                (gemini-companion--param question :options)))
        (goto-char (point-min))
        (dolist (window (get-buffer-window-list nil nil t))
          (set-window-point window (point-min))
          (set-window-start window (point-min))))
      (setq gemini-companion--shown question))
    (current-buffer)))

(defun gemini-companion--announce (format question)
  "Say by FORMAT, in one line, that there is QUESTION."
  (let ((message-truncate-lines t))
    (message format (car (split-string (gemini-companion--text question) "\n")))))

(defun gemini-companion--refresh ()
  "Show what is asked now, and take the focus from nobody."
  (setq gemini-companion--questions
        (cl-delete-if-not (lambda (question) (jsonrpc-running-p (plist-get question :server))) gemini-companion--questions))
  (let* ((first (car gemini-companion--questions))
         (is-new (and first (not (eq first gemini-companion--shown)))))
    (unless (eq first gemini-companion--reached)
      (setq gemini-companion--reached nil))
    (let ((buffer (gemini-companion--write-question)))
      (cond (is-new
             (unless (get-buffer-window buffer)
               (save-selected-window
                 (ignore-errors (display-buffer buffer gemini-companion--place))))
             (gemini-companion--announce "Gemini asks (M-x gemini-answer): %s" first))
            ((not first)
             (dolist (window (get-buffer-window-list buffer nil t))
               (unless (eq window (selected-window))
                 (ignore-errors (quit-window nil window)))))))))

(defun gemini-companion--drop (condition)
  "Drop the questions for which CONDITION holds: nobody waits for them any more."
  (setq gemini-companion--questions (cl-delete-if condition gemini-companion--questions))
  (gemini-companion--refresh))

(defun gemini-companion--receive (receive connection message &rest more)
  "Keep a question in MESSAGE of CONNECTION until it is answered.
All else is left to RECEIVE, with MORE: it has to know an answer at once."
  (if (and (cl-typep connection 'gemini-companion-server)
           (plist-get message :id)
           (member (plist-get message :method) '("gemini/confirmTool" "gemini/askUser")))
      (progn
        (setq gemini-companion--questions
              (append gemini-companion--questions
                      (list (list :server connection :id (plist-get message :id) :params (plist-get message :params)))))
        (gemini-companion--refresh)
        (when (cdr gemini-companion--questions)
          (gemini-companion--announce "Gemini asks more after this: %s" (car (last gemini-companion--questions)))))
    (apply receive connection message more)))

(advice-add 'jsonrpc-connection-receive :around #'gemini-companion--receive)

(cl-defmethod eglot-handle-notification ((server gemini-companion-server) (_method (eql $/cancelRequest)) &key id &allow-other-keys)
  "SERVER does not wait for the answer to ID any more."
  (gemini-companion--drop (lambda (question) (and (eq (plist-get question :server) server) (equal (plist-get question :id) id)))))

;; What a daemon asked that has ended is asked no more.
(advice-add 'eglot--on-shutdown :after (lambda (&rest _) (when gemini-companion--questions (gemini-companion--refresh))))

(defun gemini-companion--go-back ()
  "Select the window where the person was."
  (when (window-live-p gemini-companion--came-from)
    (select-window gemini-companion--came-from))
  (setq gemini-companion--came-from nil))

(defun gemini-companion--settle (question result)
  "Answer QUESTION with RESULT."
  (if (not (memq question gemini-companion--questions))
      (message "Nobody waits for that answer any more.")
    (setq gemini-companion--questions (delq question gemini-companion--questions))
    (gemini-companion--go-back)
    (gemini-companion--synchronise-all (plist-get question :server)) ; what was edited since it was asked
    (jsonrpc-connection-send (plist-get question :server) :id (plist-get question :id) :result result)
    (gemini-companion--refresh)))

(defun gemini-companion--forget-reached ()
  "The keys of a question that was left do nothing until it is gone to again."
  (unless (or (minibufferp) (eq (window-buffer (selected-window)) (get-buffer "*Gemini asks*")))
    (setq gemini-companion--reached nil)
    (gemini-companion--write-question)
    (remove-hook 'post-command-hook #'gemini-companion--forget-reached)))

;;;###autoload
(defun gemini-answer ()
  "Go to what Gemini asks; the keys that stand there answer it."
  (interactive)
  (gemini-companion--refresh)
  (if (not gemini-companion--questions)
      (message "Gemini asks nothing now.")
    (let ((here (selected-window)))
      (setq gemini-companion--reached (car gemini-companion--questions))
      (pop-to-buffer (gemini-companion--write-question) gemini-companion--place)
      (unless (eq here (selected-window))
        (setq gemini-companion--came-from here))
      (add-hook 'post-command-hook #'gemini-companion--forget-reached))))

(defun gemini-companion-key ()
  "Answer the question that was gone to, by the key that was pressed."
  (interactive)
  (let* ((question gemini-companion--reached)
         (is-for-words (gemini-companion--param question :question))
         (options (gemini-companion--param question :options))
         (key last-command-event))
    (cond ((or (not question) (not (eq question (car gemini-companion--questions))))
           (message "First go to the question: M-x gemini-answer"))
          ((memq key '(?n ?\r return))
           (gemini-companion--settle question (if is-for-words (make-hash-table) '(:outcome "reject"))))
          ((eq key ?q)
           (gemini-companion--go-back))
          ((eq key ?r)
           (let ((words (read-string (if is-for-words "Your answer: " "No, because: "))))
             (gemini-companion--settle question (if is-for-words (list :answer words) (list :outcome "reject" :reason words)))))
          (is-for-words
           (when (and (<= ?1 key ?9) (<= (- key ?0) (length options)))
             (gemini-companion--settle question (list :answer (elt options (- key ?1))))))
          ((eq key ?y)
           (gemini-companion--settle question '(:outcome "once")))
          ((and (memq key '(?s ?a)) (gemini-companion--param question :rule))
           (gemini-companion--settle question (list :outcome (if (eq key ?s) "session" "always"))))
          ((and (eq key ?e) (gemini-companion--can-correct question))
           (gemini-companion--correct question)))))

(defun gemini-companion--correct (question)
  "Let the person change the text of QUESTION, and say yes to it as it is then."
  (let* ((content (gemini-companion--param question :newContent))
         (text (replace-regexp-in-string "\r\n" "\n" (or content (gemini-companion--param question :command)) t t))
         (buffer (generate-new-buffer "*Gemini text*")))
    (pop-to-buffer buffer '((display-buffer-pop-up-window display-buffer-use-some-window) (inhibit-same-window . t)))
    (insert text)
    (goto-char (point-min))
    (use-local-map (make-sparse-keymap))
    (local-set-key
     (kbd "C-c C-c")
     (lambda ()
       (interactive)
       (let ((changed (buffer-substring-no-properties (point-min) (point-max))))
         (kill-buffer buffer)
         (gemini-companion--settle
          question
          (cond ((equal changed text) '(:outcome "once"))
                (content (list :outcome "once" :editedContent changed))
                (t (list :outcome "once" :editedArgs
                         (plist-put (copy-sequence (gemini-companion--param question :args)) :command changed))))))))
    (local-set-key (kbd "C-c C-k") (lambda () (interactive) (kill-buffer buffer) (gemini-companion--go-back)))
    (message "C-c C-c: yes to it as it is then  C-c C-k: later")))

;; ---- what is open, as it is, unsaved edits included

(defvar gemini-companion--servers nil "Those that have been started.")
(defvar-local gemini-companion--synchronised nil
  "What was sent of a buffer that eglot does not manage: (SERVER . TICK).")
(defvar eglot-confirm-server-edits)
(defvar eglot--docver)

(add-hook 'eglot-server-initialized-hook
          (lambda (server)
            (when (cl-typep server 'gemini-companion-server)
              (push server gemini-companion--servers))))

(defun gemini-companion--is-near (server)
  "Whether the current buffer is in the project of SERVER."
  (file-in-directory-p default-directory (project-root (eglot--project server))))

(defun gemini-companion--server ()
  "The daemon; it is started if it does not run."
  (setq gemini-companion--servers (cl-delete-if-not #'jsonrpc-running-p gemini-companion--servers))
  (let ((here (eglot-current-server)))
    (cond ((cl-typep here 'gemini-companion-server) here)
          ((cl-find-if #'gemini-companion--is-near gemini-companion--servers))
          ((not (executable-find (car gemini-companion-command)))
           (user-error "%s is not on Emacs's exec-path: install Gemini Companion, or set gemini-companion-command"
                       (car gemini-companion-command)))
          (t (let ((directory default-directory)
                   (project (or (project-current) (cons 'transient (expand-file-name default-directory))))
                   (eglot-sync-connect t))
               (with-temp-buffer ; no buffer of any mode, so that none loses the server that it has
                 (setq default-directory directory)
                 (eglot '(gemini-companion-question-mode) project 'gemini-companion-server (gemini-companion--contact) "text"))
               (or (cl-find-if #'jsonrpc-running-p gemini-companion--servers)
                   (user-error "Gemini Companion does not start: run gemini-companion doctor")))))))

(defun gemini-companion--is-managed (server)
  "Whether eglot manages the current buffer through SERVER."
  (and (bound-and-true-p eglot--managed-mode) (eq (eglot-current-server) server)))

(defun gemini-companion--synchronise (server)
  "Let SERVER know the text of the current buffer."
  (if (gemini-companion--is-managed server)
      (eglot--signal-textDocument/didChange)
    (let* ((tick (buffer-chars-modified-tick))
           (version (or (bound-and-true-p eglot--versioned-identifier) (bound-and-true-p eglot--docver) 0))
           (document (append (eglot--TextDocumentIdentifier) (list :version version)))
           (text (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max)))))
      (cond ((not (eq (car gemini-companion--synchronised) server))
             (let ((language (string-remove-suffix "-mode" (symbol-name major-mode))))
               (jsonrpc-notify server :textDocument/didOpen
                               (list :textDocument (append document (list :languageId language :text text))))
               (add-hook 'kill-buffer-hook #'gemini-companion--close nil t)))
            ((not (eql (cdr gemini-companion--synchronised) tick))
             (jsonrpc-notify server :textDocument/didChange
                             (list :textDocument document :contentChanges (vector (list :text text))))))
      (setq gemini-companion--synchronised (cons server tick)))))

(defun gemini-companion--close ()
  "The current buffer is not open any more."
  (when (and gemini-companion--synchronised (jsonrpc-running-p (car gemini-companion--synchronised)))
    (jsonrpc-notify (car gemini-companion--synchronised) :textDocument/didClose
                    (list :textDocument (eglot--TextDocumentIdentifier)))))

(defun gemini-companion--synchronise-all (server)
  "Let SERVER know the text of all buffers that it knows."
  (dolist (buffer (gemini-companion--buffers server))
    (with-current-buffer buffer
      (gemini-companion--synchronise server))))

(defun gemini-companion--buffers (server)
  "The buffers whose text SERVER knows."
  (cl-remove-if-not (lambda (buffer)
                      (with-current-buffer buffer
                        (or (gemini-companion--is-managed server) (eq (car gemini-companion--synchronised) server))))
                    (buffer-list)))

;; The person has agreed already, or lets edits through unasked: eglot need not ask again.  Nor may anything else ask, for it would
;; take what is typed for the answer: `inhibit-interaction' makes that a failure, and so a no.
(cl-defmethod eglot-handle-request ((server gemini-companion-server) (_method (eql workspace/applyEdit)) &rest _)
  "Apply an edit of SERVER."
  (let ((eglot-confirm-server-initiated-edits nil)
        (eglot-confirm-server-edits nil)
        (inhibit-interaction t)
        (buffers (gemini-companion--buffers server)))
    (dolist (buffer buffers)
      (with-current-buffer buffer
        (unless (or (gemini-companion--is-managed server)
                    (eql (cdr gemini-companion--synchronised) (buffer-chars-modified-tick)))
          (gemini-companion--synchronise server)
          (jsonrpc-error "The text of %s is another by now" (buffer-name)))))
    (prog1 (cl-call-next-method)
      (gemini-companion--synchronise-all server))))

(defun gemini-companion--read-again (server)
  "Read files of the project of SERVER again that were changed on the disk.
Those with unsaved edits are left alone."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and buffer-file-name (not (buffer-modified-p)) (not (verify-visited-file-modtime)) (file-readable-p buffer-file-name)
                 (gemini-companion--is-near server))
        (ignore-errors (let ((inhibit-interaction t)) (revert-buffer t t t)))
        (when (eq (car gemini-companion--synchronised) server)
          (gemini-companion--synchronise server))))))

;; ---- answers

(defvar gemini-companion--titles (make-hash-table :test #'equal) "Of calls of tools.")
(defvar gemini-companion--has-text nil "Whether the answer has shown anything.")

(defun gemini-companion--insert (text)
  "Insert TEXT at the end of the buffer with the answers."
  (with-current-buffer (get-buffer-create "*Gemini*")
    (save-excursion
      (goto-char (point-max))
      (insert text))
    (dolist (window (or (get-buffer-window-list nil nil t) (list (display-buffer (current-buffer)))))
      (when (windowp window)
        (set-window-point window (point-max))))))

(cl-defmethod eglot-handle-notification ((server gemini-companion-server) (_method (eql gemini/event)) &key event &allow-other-keys)
  "Show the answer of SERVER as it streams in: EVENT is one of its events."
  (pcase (plist-get event :type)
    ("turnStarted"
     (setq gemini-companion--has-text nil)
     (gemini-companion--insert
      (format "> %s\n\n" (replace-regexp-in-string "\n" "\n> " (or (plist-get (aref (plist-get event :prompt) 0) :text) "...")))))
    ("messageDelta"
     (setq gemini-companion--has-text t)
     (gemini-companion--insert (plist-get event :text)))
    ("toolCallStarted"
     (puthash (plist-get event :toolCallId) (or (plist-get event :title) (plist-get event :name)) gemini-companion--titles))
    ("toolCallCompleted"
     (gemini-companion--insert (format "\n- %s: %s\n\n" (gethash (plist-get event :toolCallId) gemini-companion--titles "")
                                       (or (plist-get event :summary) (plist-get event :outcome))))
     (gemini-companion--read-again server))
    ("messageDiscarded" (gemini-companion--insert "\n\n*(That was cut short. Once more:)*\n\n"))
    ((or "turnFailed" "turnCancelled")
     (gemini-companion--insert (if gemini-companion--has-text "\n\n*(It ends here.)*\n\n" "\n\n*(No answer.)*\n\n")))
    ("turnCompleted" (gemini-companion--insert "\n\n")))
  (when (member (plist-get event :type) '("turnCompleted" "turnFailed" "turnCancelled"))
    (run-hooks 'gemini-companion-answered-hook)))

;; An edit of a file that you had saved is saved too, so that the commands Gemini runs see it.
(cl-defmethod eglot-handle-request ((_server gemini-companion-server) (_method (eql gemini/saveDocument)) &key path &allow-other-keys)
  "Save the buffer that visits PATH, and say whether the disk has its text."
  (let ((buffer (find-buffer-visiting path)))
    (when buffer
      (with-current-buffer buffer
        (ignore-errors (let ((save-silently t) (inhibit-interaction t)) (save-buffer)))))
    (list :saved (if (and buffer (not (buffer-modified-p buffer))) t :json-false))))

(cl-defmethod eglot-handle-notification ((_server gemini-companion-server) (_method (eql gemini/compressionStatus/didChange)) &rest _)
  "The status is shown when you ask for it."
  nil)

(defun gemini-companion--show (result)
  "Show the outcome RESULT of a request, if it has one for people."
  (let ((compression (plist-get result :compression)))
    (cond ((plist-get result :message) (message "%s" (plist-get result :message)))
          ((and (consp compression) (plist-get compression :message)) (message "%s" (plist-get compression :message)))
          ((plist-get result :mode) (message "Mode: %s" (plist-get result :mode)))
          ((plist-get result :reverted)
           (mapc (lambda (conflict)
                   (message "%s is left as it is: %s" (plist-get conflict :path) (plist-get conflict :reason)))
                 (plist-get result :conflicts))
           (message "Put back: %s" (mapconcat #'identity (plist-get result :reverted) ", "))
           (mapc #'gemini-companion--read-again gemini-companion--servers))
          ((eq (plist-get result :cancelled) :json-false) (message "Nothing is running.")))))

(defun gemini-companion--request (method params &optional then)
  "Send METHOD with PARAMS, and call THEN with the result (by default, show it)."
  (jsonrpc-async-request
   (gemini-companion--server) method params
   :timeout gemini-companion--patience
   :success-fn (or then #'gemini-companion--show)
   :error-fn (lambda (fault)
               (unless (eql (plist-get fault :code) -32800) ; which says: cancelled
                 (let ((hint (plist-get (plist-get fault :data) :hint)))
                   (message "%s%s" (plist-get fault :message) (if (stringp hint) (concat " " hint) "")))))))

;;;###autoload
(defun gemini (prompt)
  "Ask Gemini PROMPT, about the lines of the region if there is one."
  (interactive "sGemini: ")
  (let* ((server (gemini-companion--server))
         (region (use-region-p))
         (first (1- (line-number-at-pos (if region (region-beginning) (point)) t)))
         (last (1- (line-number-at-pos (if region (region-end) (point)) t))))
    (when buffer-file-name
      (gemini-companion--synchronise server) ; what was typed just now
      (jsonrpc-request server :textDocument/codeAction ; lets Gemini know where you are
                       `(:textDocument ,(eglot--TextDocumentIdentifier)
                         :range (:start (:line ,first :character 0) :end (:line ,last :character 9999))
                         :context (:diagnostics []))))
    (gemini-companion--request :gemini/chat `(:prompt ,prompt))))

;;;###autoload
(defun gemini-compress (instructions)
  "Compress the chat, heeding INSTRUCTIONS, which a prefix argument asks for."
  (interactive (list (if current-prefix-arg (read-string "What to heed: ") "")))
  (gemini-companion--request :gemini/compress `(:instructions ,instructions)))

;;;###autoload
(defun gemini-status ()
  "Show where compression stands; the daemon puts it into words."
  (interactive)
  (gemini-companion--request :workspace/executeCommand '(:command "gemini.compressionStatus") #'ignore))

;;;###autoload
(defun gemini-undo ()
  "Take the last compression back."
  (interactive)
  (gemini-companion--request :gemini/compression/undo '(:sessionId nil)))

;;;###autoload
(defun gemini-set-mode (mode)
  "Let tools do as much unasked as MODE says."
  (interactive (list (completing-read "Mode: " '("ask" "acceptEdits" "plan") nil t)))
  (gemini-companion--request :gemini/session/mode (list :mode mode)))

;;;###autoload
(defun gemini-revert ()
  "Take the newest change of files back."
  (interactive)
  (gemini-companion--request :gemini/changes/revert '(:sessionId nil)))

;;;###autoload
(defun gemini-cancel ()
  "Stop the answer, the command or the compression that runs."
  (interactive)
  (gemini-companion--request :gemini/cancel '(:sessionId nil)))

(provide 'gemini-companion)
;;; gemini-companion.el ends here
