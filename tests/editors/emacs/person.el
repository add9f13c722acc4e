;;; person.el --- Acts as a person in an Emacs that was configured with nothing but the file that is shipped  -*- lexical-binding: t -*-

;; Writes down what that person saw.  A scenario defines `play' and fills `record', which becomes the JSON file $RECORD.

;;; Code:

(require 'json)
(require 'cl-lib)

(defvar record nil "What was seen: an alist.")
(defvar shown nil "What was in the echo area, newest first.")
(defvar answered 0 "How many turns have ended.")

(setq vc-handled-backends nil
      create-lockfiles nil
      make-backup-files nil
      auto-save-default nil
      eglot-sync-connect t
      enable-local-variables nil)
(advice-add 'message :before (lambda (format &rest arguments) (when format (push (apply #'format-message format arguments) shown))))
(add-hook 'gemini-companion-answered-hook (lambda () (cl-incf answered)))

(defun await (what condition)
  "Wait for CONDITION to become true, 30 seconds at most; WHAT says what it is."
  (with-timeout (30 (error "Waited in vain for %s; shown: %S; answers: %s" what shown (answers)))
    (while (not (funcall condition))
      (accept-process-output nil 0.01))))

(defun answers ()
  "The text of the buffer with the answers."
  (if (get-buffer "*Gemini*") (with-current-buffer "*Gemini*" (buffer-substring-no-properties (point-min) (point-max))) ""))

(defun asked (act)
  "What ACT adds to the buffer with the answers."
  (let ((before (length (answers))) (turns answered))
    (funcall act)
    (await "an answer" (lambda () (> answered turns)))
    (substring (answers) before)))

(defun shown-after (act pattern)
  "The message that matches PATTERN and is shown after ACT."
  (setq shown nil)
  (funcall act)
  (let (found)
    (await (format "a message like %s" pattern)
           (lambda () (setq found (cl-find-if (lambda (text) (string-match-p pattern text)) shown))))
    found))

(defun select-lines (first last)
  "Make the lines FIRST to LAST the active region."
  (goto-char (point-min))
  (forward-line (1- first))
  (push-mark (point) t t)
  (forward-line (- last first))
  (end-of-line)
  (setq transient-mark-mode t mark-active t))

(defun note (name value)
  "Put VALUE into the record under NAME."
  (push (cons name value) record))

(defun start ()
  "Open the file of the scenario, and connect."
  (find-file "parser.py")
  (python-mode)
  (call-interactively #'eglot)
  (note 'connected (plist-get (eglot--server-info (eglot-current-server)) :name)))

(condition-case problem
    (progn (load (getenv "SCENARIO") nil t)
           (start)
           (play)
           (eglot-shutdown (eglot-current-server) nil 5))
  (error (note 'problem (error-message-string problem))))
(with-temp-file (getenv "RECORD") (insert (json-encode record)))
(kill-emacs 0)
;;; person.el ends here
