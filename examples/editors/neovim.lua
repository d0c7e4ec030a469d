-- ~/.config/nvim/lsp/ome.lua; `vim.lsp.enable('ome')` in init.lua starts it.
-- Hints beside spec.model: vim.lsp.inlay_hint.enable(true)
return {
  cmd = { 'ome', 'lsp' },
  filetypes = { 'yaml', 'json' },
  root_markers = { 'ome.toml', '.git' },
}
