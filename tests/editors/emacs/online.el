;;; online.el --- The real SDK, speaking to an emulated service that holds the end of its story back  -*- lexical-binding: t -*-

;;; Code:

(defun play ()
  "Work for a while."
  (goto-char (point-min))
  (insert "UNSAVED = \"only in the buffer\"\n")
  (select-lines 3 4)
  (note 'selection (asked (lambda () (gemini "what does this do?"))))
  (deactivate-mark)
  (gemini "tell me a long story")
  (await "the first words" (lambda () (string-match-p "Once upon" (answers))))
  (note 'cancelled (asked #'gemini-cancel))
  (note 'after_cancel (asked (lambda () (gemini "and now?")))))
;;; online.el ends here
