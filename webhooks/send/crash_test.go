package send

const childVariable = "TONSCRIBE_SEND_CHILD"

func childMain() {}
