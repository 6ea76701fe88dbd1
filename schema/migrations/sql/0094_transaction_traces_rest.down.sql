{{dropcolumns "transaction_traces" "trace_rest"}}
