const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = async () => {
  const settings = workspace.getConfiguration('ome');
  const server = { command: settings.get('path'), args: ['lsp', ...settings.get('flags')] };
  const options = { documentSelector: [{ scheme: 'file', language: 'yaml' }, { scheme: 'file', language: 'json' }] };
  client = new LanguageClient('ome', 'ome', server, options);
  await client.start();
};

exports.deactivate = () => client?.stop();
