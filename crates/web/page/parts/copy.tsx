import { useState } from "preact/hooks";

import { Icon } from "./icon.tsx";

const SHOWN_MS = 1500;

export function CopyButton(props: { text: string; label: string; words?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(props.text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <button
      class="button quiet small"
      type="button"
      title={props.label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? "check" : "copy"} size={14} />
      {props.words ? (
        <span>{isCopied ? "Copied" : props.words}</span>
      ) : (
        <span class="unseen">{isCopied ? "Copied" : props.label}</span>
      )}
    </button>
  );
}
