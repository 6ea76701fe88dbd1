-- Rows of these expire. A part that all have left stays until it is merged, so that who watches over
-- the tables can tell it from one that was lost.
{{alter "merchant_sessions"}} MODIFY SETTING remove_empty_parts = 0;
{{alter "events"}} MODIFY SETTING remove_empty_parts = 0;
{{alter "deliveries"}} MODIFY SETTING remove_empty_parts = 0;
{{alter "delivery_attempts"}} MODIFY SETTING remove_empty_parts = 0;
{{alter "replays"}} MODIFY SETTING remove_empty_parts = 0
