-- A merchant waits for the insert of each payment: its projections are made when parts are merged,
-- and until then the few rows of a part are read as they are.
{{alter "payments"}} MODIFY SETTING materialize_projections_on_insert = 0, materialize_projections_on_merge = 1
