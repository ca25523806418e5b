import { useState } from "preact/hooks";

import { Check } from "../../parts/field.tsx";
import { useCell } from "../../state/cell.ts";
import { choose, preferences } from "../../state/preferences.ts";

export function Notifications() {
  const { notifies } = useCell(preferences);
  const [problem, setProblem] = useState("");
  if (!("Notification" in window)) return null;
  const change = async (isOn: boolean) => {
    setProblem("");
    if (isOn && Notification.permission !== "granted") {
      const permission = await Notification.requestPermission();
      if (permission !== "granted") {
        setProblem("The browser does not allow notifications of this page.");
        choose({ notifies: false });
        return;
      }
    }
    choose({ notifies: isOn });
  };
  return (
    <>
      <Check
        label="Notify me when an agent needs me"
        isOn={notifies && Notification.permission === "granted"}
        onValue={(isOn) => void change(isOn)}
      />
      {problem && (
        <p class="tone-failed" role="alert">
          ✕ {problem}
        </p>
      )}
    </>
  );
}
