complete --keep-order --exclusive --command kdns --arguments "(_KDNS_COMPLETE=fish kdns -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
