;;; agent.el --- The model reads, changes a file and runs a command; the person goes to each question  -*- lexical-binding: t -*-

;;; Code:

(defvar questions nil "What the person was asked, newest first.")
(defvar refuses nil "Whether the person says no.")

(defun answer-question ()
  "Go to what is asked, write it down, and say what the person would."
  (when (and gemini-companion--questions (not gemini-companion--reached))
    (gemini-answer)
    (push (with-current-buffer "*Gemini asks*" (buffer-string)) questions)
    (let ((last-command-event (if refuses ?n ?y)))
      (gemini-companion-key))))

(defun lines ()
  "The text of the file's buffer."
  (with-current-buffer "parser.py" (buffer-substring-no-properties (point-min) (point-max))))

(defun play ()
  "Work for a while."
  (run-with-timer 0.01 0.01 #'answer-question)
  (setq refuses t)
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
