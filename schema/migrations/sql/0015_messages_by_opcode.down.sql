{{drop "messages_by_opcode"}}
