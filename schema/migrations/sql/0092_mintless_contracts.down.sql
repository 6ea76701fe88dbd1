{{dropcolumns "jetton_masters" "mintless_root"}}
