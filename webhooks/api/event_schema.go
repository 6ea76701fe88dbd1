package api

import (
	"encoding/json"

	"tonscribe/query/openapi"
	"tonscribe/webhooks/event"
)

// eventSchemaText is the JSON Schema of an event's body.
var eventSchemaText = func() json.RawMessage {
	text := func(description string) openapi.Object {
		return openapi.Schema("type", "string", "description", description)
	}
	moment := func(description string) openapi.Object {
		return openapi.Schema("type", "string", "format", "date-time", "description", description)
	}
	hash := openapi.Schema("type", "string", "pattern", "^[0-9a-f]{64}$")
	failed := openapi.Schema("properties", openapi.Schema("status", openapi.Schema("const", event.Failed)))
	data := openapi.Schema("type", "object",
		"properties", openapi.Schema(
			"amount", openapi.Schema("type", "string", "pattern", `^[0-9]+(?:\.[0-9]*[1-9])?$`, "description", "in units of the asset, an exact decimal"),
			"rawAmount", openapi.Schema("type", "string", "pattern", "^[0-9]+$", "description", "in base units"),
			"senderAddr", text("wallet that has paid"),
			"recipientAddr", text("wallet that was paid"),
			"asset", text("ticker of the native coin, or address of the jetton's master"),
			"assetTicker", text("for people"),
			"status", openapi.Schema("type", "string", "enum", []event.Status{event.Success, event.Failed}),
			"reference", text("of the payment, from create-transfer; that of a test begins with "+testPrefix),
			"bodyBase64Hash", text("hash of the body that the payer has signed"),
			"txHash", hash.With("description", "transaction that decided"),
			"traceId", hash.With("description", "its trace"),
			"commentToSender", text("shown to the payer while signing"),
			"commentToRecipient", text("for the recipient"),
			"date", moment("of the transaction that decided"),
			"errorCode", openapi.Schema("type", "integer", "description", "of failed transfers"),
			"errorMessage", text("of failed transfers"),
		),
		"required", []string{"amount", "rawAmount", "senderAddr", "recipientAddr", "asset", "status", "reference", "bodyBase64Hash", "txHash", "traceId", "date"},
		"if", failed,
		"then", openapi.Schema("required", []string{"errorCode", "errorMessage"}),
		"else", openapi.Schema("properties", openapi.Schema("errorCode", false, "errorMessage", false)),
	)
	schema, err := json.Marshal(openapi.Schema(
		"$schema", "https://json-schema.org/draft/2020-12/schema", "title", "Webhook", "type", "object",
		"properties", openapi.Schema("event", openapi.Schema("const", event.TransferCompleted), "timestamp", moment("of the event"), "data", data),
		"required", []string{"event", "timestamp", "data"},
	))
	if err != nil {
		panic("webhooks/api: the schema of events: " + err.Error()) // it is a constant
	}
	return schema
}()
