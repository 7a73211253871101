/** The running stack, from the environment that `with-business` sets. */
export interface Stack {
  portal: string;
  /** The console's own origin. */
  console: string;
  orderApi: string;
  operatorToken: string;
  fleetToken: string;
  /** The issuer of the staff's single sign-on. Nothing listens there until a test starts it. */
  identityProvider: string;
  /** The folder to which the stack writes its mails. */
  mailFolder: string;
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with \`make test-pages\``);
  return value;
}

/** A program that runs once starts in about half the time. */
export const JAVA_TOOL_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

export const stack: Stack = {
  portal: variable("PORTAL"),
  console: variable("OPERATOR_CONSOLE"),
  orderApi: variable("ORDER_API"),
  operatorToken: variable("OPERATOR_TOKEN"),
  fleetToken: variable("FLEET_TOKEN"),
  identityProvider: variable("IDENTITY_PROVIDER"),
  mailFolder: variable("MAIL_FOLDER"),
};
