;;; asked.el --- Answers the test: the expression in the file $ASKED, as JSON  -*- lexical-binding: t -*-

;;; Code:

(require 'json)

(setq vc-handled-backends nil
      create-lockfiles nil
      make-backup-files nil
      auto-save-default nil
      enable-local-variables nil
      ring-bell-function #'ignore
      ;; After M-x Emacs looks for a shorter name until a key comes.  Of keys that come at once it then loses all but two.
      suggest-key-bindings nil
      write-region-inhibit-fsync t)
(electric-indent-mode -1)

(defun asked-look ()
  "Answer, if there is a question."
  (let* ((file (getenv "ASKED")) (writing (concat file ".writing")))
    (when (file-exists-p file)
      (let ((answer (condition-case problem
                        (list :value (eval (with-temp-buffer (insert-file-contents file) (read (current-buffer))) t))
                      (error (list :problem (error-message-string problem))))))
        (delete-file file)
        (let ((coding-system-for-write 'utf-8))
          (write-region (json-encode answer) nil writing nil 'quiet))
        (rename-file writing (concat file ".reply"))))))

(run-with-timer 0.01 0.01 #'asked-look)
;;; asked.el ends here
