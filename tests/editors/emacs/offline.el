;;; offline.el --- No key, no network: the built-in model answers  -*- lexical-binding: t -*-

;;; Code:

(defun play ()
  "Work for a while."
  (select-lines 2 3)
  (note 'selection (asked (lambda () (gemini "what does this do?"))))
  (deactivate-mark)
  (goto-char (point-max))
  (insert "\ndef merge(left, right):\n    return sorted(left + right)\n")
  (note 'unsaved (asked (lambda () (gemini "where is merge defined?"))))
  (note 'small (shown-after (lambda () (gemini-compress "")) "not worth it"))
  (dotimes (number 6)
    (asked (lambda () (gemini (format "Never touch legacy/file%d.py. %s" number
                                      (mapconcat #'identity (make-list 300 (format "word%d" number)) " "))))))
  (note 'compressed (shown-after (lambda () (gemini-compress "keep the numbers")) "Compressed the chat"))
  (note 'status (shown-after #'gemini-status "Compression is"))
  (note 'undone (shown-after #'gemini-undo "^Undone:"))
  (note 'after_undo (asked (lambda () (gemini "and again?"))))
  (note 'nothing_to_undo (shown-after #'gemini-undo "nothing to undo"))
  (note 'nothing_runs (shown-after #'gemini-cancel "Nothing is running")))
;;; offline.el ends here
