import type { Route } from "./model/routes.ts";
import { SheetHost } from "./actions/host.tsx";
import { Frame } from "./frame.tsx";
import { Empty, Failure, Skeleton } from "./parts/states.tsx";
import { Toasts } from "./parts/toast.tsx";
import { ApiError } from "./api/http.ts";
import { useCell } from "./state/cell.ts";
import { identity } from "./state/identity.ts";
import { retry } from "./state/live.ts";
import { useRoute } from "./state/navigation.ts";
import { DeliveriesView, DeliveryView } from "./views/deliveries.tsx";
import { LoginView, Welcome } from "./views/login.tsx";
import { NeedsYou } from "./views/needs-you.tsx";
import { PlanView } from "./views/plan.tsx";
import { PlansView } from "./views/plans.tsx";
import { SessionView } from "./views/session/session.tsx";
import { SessionsView } from "./views/sessions.tsx";
import { SettingsView } from "./views/settings/settings.tsx";
import { TaskView } from "./views/task.tsx";
import { TasksView } from "./views/tasks.tsx";
import { UsageView } from "./views/usage.tsx";
import { WorktreesView } from "./views/worktrees.tsx";

export function App() {
  const route = useRoute();
  const known = useCell(identity);
  if (route.view === "login") return <LoginView />;
  switch (known.kind) {
    case "unknown":
      return <Skeleton lines={5} label="Loading" />;
    case "none":
      return <Welcome problem={known.why} wasShared={known.wasShared} />;
    case "unreachable":
      return (
        <main class="welcome">
          <img src="/icon.svg" alt="" width={56} height={56} />
          <h1>Segue</h1>
          <Failure
            error={
              new ApiError(0, "Segue does not answer. The page opens when it does.", [
                "run `segue` on the machine of your agents to start it",
              ])
            }
            retry={() => void retry()}
          />
        </main>
      );
    case "known":
      return (
        <>
          <Frame route={route}>
            <View route={route} />
          </Frame>
          <SheetHost />
          <Toasts />
        </>
      );
  }
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "needs-you":
      return <NeedsYou />;
    case "sessions":
      return <SessionsView />;
    case "session":
      return <SessionView id={route.id} tab={route.tab} />;
    case "tasks":
      return <TasksView />;
    case "task":
      return <TaskView id={route.id} />;
    case "plans":
      return <PlansView />;
    case "plan":
      return <PlanView id={route.id} />;
    case "deliveries":
      return <DeliveriesView />;
    case "delivery":
      return <DeliveryView id={route.id} />;
    case "usage":
      return <UsageView />;
    case "worktrees":
      return <WorktreesView />;
    case "settings":
      return <SettingsView />;
    case "login":
    case "unknown":
      return (
        <Empty icon="search" title="There is no such page">
          <a class="button" href="/">
            Needs you
          </a>
        </Empty>
      );
  }
}
