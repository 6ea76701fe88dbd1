{{dropcolumns "transactions_by_utime" "aborted" "total_fees" "storage_fees" "gas_fees" "action_fees" "forward_fees"}}
