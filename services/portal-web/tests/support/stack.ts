/** Where the running stack is, as `with-business` tells it. */
export interface Stack {
  portal: string;
  orderApi: string;
  operatorToken: string;
  fleetToken: string;
  /** Where the stack leaves the mails that it sends. */
  mailFolder: string;
}

function told(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests with \`make test-pages\``);
  return value;
}

export const stack: Stack = {
  portal: told("PORTAL"),
  orderApi: told("ORDER_API"),
  operatorToken: told("OPERATOR_TOKEN"),
  fleetToken: told("FLEET_TOKEN"),
  mailFolder: told("MAIL_FOLDER"),
};
