{{alter "merchant_sessions"}} RESET SETTING remove_empty_parts;
{{alter "events"}} RESET SETTING remove_empty_parts;
{{alter "deliveries"}} RESET SETTING remove_empty_parts;
{{alter "delivery_attempts"}} RESET SETTING remove_empty_parts;
{{alter "replays"}} RESET SETTING remove_empty_parts
