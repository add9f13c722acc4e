;;; gemini-companion.el --- Gemini Companion through eglot  -*- lexical-binding: t -*-

;; For Emacs 29 or newer, or Emacs 28 with the package eglot. Load this file from your init file:
;;   gemini-companion editor emacs > ~/.emacs.d/gemini-companion.el
;;   (load (locate-user-emacs-file "gemini-companion"))
;;
;; eglot has one server per buffer: set `gemini-companion-modes' to the modes that have no other (lsp-mode can run both beside each
;; other).  Then M-x eglot, and
;;
;;   M-x gemini                  ask; about the lines of the region if there is one, else about where point is
;;   M-x gemini-compress         compress the chat; with a prefix argument it asks what to heed
;;   M-x gemini-status           show where compression stands
;;   M-x gemini-undo             take the last compression back
;;   M-x gemini-cancel           stop the answer or the compression that runs
;; Before Gemini changes a file or runs a command, eglot asks you in the minibuffer; edits come as edits of the server, which
;; `eglot-confirm-server-initiated-edits' at nil applies without asking again.
;;
;;   M-x eglot-code-actions      the same questions as code actions (eglot waits 10 seconds for their answers, `gemini' longer)

;;; Code:

(require 'eglot)

(defvar gemini-companion-modes '(python-mode python-ts-mode text-mode)
  "Major modes whose buffers talk to Gemini Companion through eglot.")

(defvar gemini-companion-command '("gemini-companion" "serve")
  "The daemon's command line.")

(defvar gemini-companion-answered-hook nil
  "Hook run after every answer, also after one that failed or was cancelled.")

(defconst gemini-companion--patience 3600
  "Seconds that an answer or a compression may take.")

(add-to-list 'eglot-server-programs
             `(,gemini-companion-modes . (,@gemini-companion-command :initializationOptions (:trusted t :supports ["saveDocument"]))))

(defun gemini-companion--insert (text)
  "Insert TEXT at the end of the buffer with the answers."
  (with-current-buffer (get-buffer-create "*Gemini*")
    (save-excursion
      (goto-char (point-max))
      (insert text))
    (dolist (window (or (get-buffer-window-list nil nil t) (list (display-buffer (current-buffer)))))
      (when (windowp window)
        (set-window-point window (point-max))))))

(cl-defmethod eglot-handle-notification (_server (_method (eql gemini/event)) &key event &allow-other-keys)
  "Show the answer as it streams in: EVENT is one of the daemon's events."
  (pcase (plist-get event :type)
    ("turnStarted"
     (gemini-companion--insert
      (format "> %s\n\n" (replace-regexp-in-string "\n" "\n> " (or (plist-get (aref (plist-get event :prompt) 0) :text) "...")))))
    ("messageDelta" (gemini-companion--insert (plist-get event :text)))
    ("messageDiscarded" (gemini-companion--insert "\n\n*(That was cut short. Once more:)*\n\n"))
    ((or "turnFailed" "turnCancelled") (gemini-companion--insert "\n\n*(No answer.)*\n\n"))
    ("turnCompleted" (gemini-companion--insert "\n\n")))
  (when (member (plist-get event :type) '("turnCompleted" "turnFailed" "turnCancelled"))
    (run-hooks 'gemini-companion-answered-hook)))

;; An edit of a file that you had saved is saved too, so that the commands Gemini runs see it.
(cl-defmethod eglot-handle-request (_server (_method (eql gemini/saveDocument)) &key path &allow-other-keys)
  "Save the buffer that visits PATH, and say whether the disk has its text."
  (let ((buffer (find-buffer-visiting path)))
    (when buffer
      (with-current-buffer buffer
        (ignore-errors (let ((save-silently t)) (save-buffer)))))
    (list :saved (if (and buffer (not (buffer-modified-p buffer))) t :json-false))))

(cl-defmethod eglot-handle-notification (_server (_method (eql gemini/compressionStatus/didChange)) &rest _)
  "The status is shown when you ask for it."
  nil)

(defun gemini-companion--show (result)
  "Show the outcome RESULT of a request, if it has one for people."
  (let ((compression (plist-get result :compression)))
    (cond ((plist-get result :message) (message "%s" (plist-get result :message)))
          ((and (consp compression) (plist-get compression :message)) (message "%s" (plist-get compression :message)))
          ((eq (plist-get result :cancelled) :json-false) (message "Nothing is running.")))))

(defun gemini-companion--request (method params &optional then)
  "Send METHOD with PARAMS, and call THEN with the result (by default, show it)."
  (jsonrpc-async-request
   (eglot--current-server-or-lose) method params
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
  (let* ((server (eglot--current-server-or-lose))
         (region (use-region-p))
         (first (1- (line-number-at-pos (if region (region-beginning) (point)))))
         (last (1- (line-number-at-pos (if region (region-end) (point))))))
    (eglot--signal-textDocument/didChange) ; what was typed just now
    (jsonrpc-request server :textDocument/codeAction ; lets Gemini know where you are
                     `(:textDocument ,(eglot--TextDocumentIdentifier)
                       :range (:start (:line ,first :character 0) :end (:line ,last :character 9999))
                       :context (:diagnostics [])))
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
(defun gemini-cancel ()
  "Stop the answer or the compression that runs."
  (interactive)
  (gemini-companion--request :gemini/cancel '(:sessionId nil)))

(provide 'gemini-companion)
;;; gemini-companion.el ends here
