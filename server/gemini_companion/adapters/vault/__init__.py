"""The vault: what stands between a secret and the disk, and brings it back. Its keys, and what finds secrets."""
