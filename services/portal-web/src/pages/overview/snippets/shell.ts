/** The shells that commands are written for. */
export type Shell = "posix" | "powershell";

export const SHELLS: { value: Shell; label: string }[] = [
  { value: "posix", label: "macOS, Linux" },
  { value: "powershell", label: "PowerShell" },
];

export const USUAL_SHELL: Shell = /Windows/.test(navigator.userAgent) ? "powershell" : "posix";

export function setVariable(shell: Shell, name: string, value: string): string {
  return shell === "powershell" ? `$env:${name} = '${value}'` : `export ${name}='${value}'`;
}

/** Sets a variable to the output of a command. */
export function setVariableTo(shell: Shell, name: string, command: string): string {
  return shell === "powershell" ? `$env:${name} = ${command}` : `export ${name}="$(${command})"`;
}

/** A program of Node.js. By its short name, Windows finds a script that PowerShell does not run. */
export function nodeProgram(shell: Shell, program: "npm" | "npx"): string {
  return shell === "powershell" ? `${program}.cmd` : program;
}

/** A program of the virtual environment. */
export function venv(shell: Shell, program: string): string {
  return shell === "powershell" ? `venv\\Scripts\\${program}` : `venv/bin/${program}`;
}
