// A command of curl, as PowerShell writes it.

/** The body goes through standard input, because PowerShell 5 loses the quotes in a parameter. */
export function powershellOf(sh) {
  const body = sh.match(/ \\\n {2}-d '([^']*)'\s*$/)?.[1];
  const call = sh
    .replace(/ \\\n {2}-d '[^']*'(\s*)$/, " \\\n  -d '@-'$1")
    .replace(/^export (\w+)=/gm, "$env:$1 = ")
    .replace(/\$([A-Z]\w*)/g, "$env:$1")
    .replace(/ \\$/gm, " `")
    .replace(/^curl /gm, "curl.exe ");
  return body === undefined ? call : `@'\n${body.replaceAll("\n  ", "\n")}\n'@ | ${call}`;
}
