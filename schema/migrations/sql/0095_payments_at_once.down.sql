{{alter "payments"}} RESET SETTING materialize_projections_on_insert, materialize_projections_on_merge
