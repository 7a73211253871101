import { ExactField } from "./exact-field";

interface AddressFieldProps {
  value: string | undefined;
  onAddress: (address: string | undefined) => void;
}

const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.]*)$/i;

/** An IP address as a filter. */
export function AddressField({ value, onAddress }: AddressFieldProps) {
  return (
    <ExactField
      label="IP address"
      placeholder="203.0.113.9"
      pattern={ADDRESS}
      hint="Enter a complete IP address."
      value={value}
      onValue={onAddress}
    />
  );
}
