package main

import (
	"tonscribe/metadata"
)

var metadataStage = stageCommand{
	name: "metadata", short: "Fetch the documents that tokens point to, for the metadata of the API",
	flags: []flag{flagClickHouse, flagPprof}, tables: true,
	open: opened((*process).newMetadata),
}

func (p *process) newMetadata() (*metadata.Component, error) {
	client, err := p.openTables("clickhouse metadata", p.dsn)
	if err != nil {
		return nil, err
	}
	return metadata.New(p.settings.Metadata, metadata.Dependencies{Report: p.report, ClickHouse: client})
}
