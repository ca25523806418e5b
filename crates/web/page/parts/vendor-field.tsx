// A choice among the vendors whose programs are installed, and other names.

import * as calls from "../api/calls.ts";
import { useResource } from "../state/resource.ts";
import { useEffect, useState } from "preact/hooks";
import { Choice, TextField } from "./field.tsx";

const OTHER = "…";

/**
 * Asks for a vendor, or for one of `others` (a name and its words). `preferred` returns the value
 * that is chosen at first.
 */
export function VendorField(props: {
  label: string;
  help?: string;
  value: string;
  onValue: (value: string) => void;
  others?: (readonly [string, string])[];
  preferred: (vendors: string[]) => string | undefined;
}) {
  const { value, onValue, others = [] } = props;
  const vendors = useResource("vendors", calls.vendors);
  const [isOther, setOther] = useState(false);
  const installed = (vendors.data ?? []).filter((it) => it.installed);
  useEffect(() => {
    if (!vendors.data || value) return;
    const first = props.preferred(installed.map((it) => it.name));
    if (first) onValue(first);
    else setOther(true);
  }, [vendors.data]);
  const help = props.help ? { help: props.help } : {};
  if (vendors.error) {
    return <TextField label={props.label} {...help} value={value} onValue={onValue} isRequired />;
  }
  const options: (readonly [string, string])[] = [
    ...installed.map(({ name, title }) => [name, `${name}: ${title}`] as const),
    ...others,
    [OTHER, "another one…"],
  ];
  const choose = (chosen: string) => {
    setOther(chosen === OTHER);
    onValue(chosen === OTHER ? "" : chosen);
  };
  return (
    <>
      <Choice
        label={props.label}
        {...help}
        value={isOther ? OTHER : value}
        options={options}
        onValue={choose}
        isFocused
      />
      {isOther && (
        <TextField
          label="Name of the vendor or the agent"
          value={value}
          onValue={onValue}
          isRequired
        />
      )}
    </>
  );
}
