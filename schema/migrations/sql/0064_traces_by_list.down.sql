{{drop "traces_by_list"}}
