;;; agent.el --- The model reads, changes a file and runs a command; the person answers in the minibuffer  -*- lexical-binding: t -*-

;;; Code:

(defvar questions nil "What the person was asked, newest first.")
(defvar refuses nil "Whether the person says no.")

(defun answer-question (prompt collection &rest _)
  "Write down PROMPT, and choose from COLLECTION what the person would."
  (push prompt questions)
  (let ((titles (all-completions "" collection)))
    (or (cl-find (if refuses "No" "Yes") titles :test #'string=) (error "There is no such answer among %S" titles))))

(defun lines ()
  "The text of the file's buffer."
  (with-current-buffer "parser.py" (buffer-substring-no-properties (point-min) (point-max))))

(defun play ()
  "Work for a while."
  (advice-add 'completing-read :override #'answer-question)
  (setq eglot-confirm-server-initiated-edits nil
        refuses t)
  (note 'declined (asked (lambda () (gemini "Run it."))))
  (setq refuses nil)
  (note 'worked (asked (lambda () (gemini "Split at commas."))))
  (note 'buffer (lines))
  (note 'on_disk (with-temp-buffer (insert-file-contents "parser.py") (buffer-string)))
  (note 'stopped (asked (lambda ()
                          (gemini "Wait for ever.")
                          (await "the command" (lambda () (cl-some (lambda (one) (string-match-p "sleep 600" one)) questions)))
                          (gemini-cancel))))
  (note 'asked (vconcat (reverse questions))))
;;; agent.el ends here
