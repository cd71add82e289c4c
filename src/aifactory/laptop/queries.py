"""The GraphQL documents that the laptop's tools send to Dagster's web server: public schema only, one noun each."""

from __future__ import annotations

LOCATIONS = """
query Locations { workspaceOrError { __typename ... on PythonError { message }
  ... on Workspace { locationEntries { name loadStatus
    locationOrLoadError { __typename ... on PythonError { message errorChain { error { message } } }
      ... on RepositoryLocation { name repositories { name } } } } } } }
"""

RELOAD = """
mutation Reload($location: String!) { reloadRepositoryLocation(repositoryLocationName: $location) { __typename
  ... on UnauthorizedError { message } ... on ReloadNotSupported { message }
  ... on RepositoryLocationNotFound { message }
  ... on PythonError { message stack }
  ... on WorkspaceLocationEntry { loadStatus locationOrLoadError { __typename
    ... on PythonError { message errorChain { error { message } } } } } } }
"""

DAEMONS = "query Daemons { instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } }"

ASSET_JOBS = """
query AssetJobs($keys: [AssetKeyInput!]) { assetNodes(assetKeys: $keys) { assetKey { path } jobNames isExecutable
  repository { name location { name } } } }
"""

LAUNCH = """
mutation Launch($params: ExecutionParams!) { launchRun(executionParams: $params) { __typename
  ... on LaunchRunSuccess { run { runId } }
  ... on RunConfigValidationInvalid { errors { message } }
  ... on PipelineNotFoundError { message } ... on InvalidSubsetError { message } ... on RunConflict { message }
  ... on UnauthorizedError { message } ... on ConflictingExecutionParamsError { message }
  ... on PythonError { message stack } } }
"""

RUN = """
query Run($id: ID!) { runOrError(runId: $id) { __typename ... on RunNotFoundError { message }
  ... on PythonError { message } ... on Run { runId jobName status startTime endTime tags { key value } } } }
"""

RUNS = """
query Runs($filter: RunsFilter, $limit: Int) { runsOrError(filter: $filter, limit: $limit) { __typename
  ... on PythonError { message } ... on InvalidPipelineRunsFilterError { message }
  ... on Runs { results { runId jobName status creationTime startTime endTime tags { key value } } } } }
"""

EVENTS = """
query Events($id: ID!, $cursor: String) { logsForRun(runId: $id, afterCursor: $cursor, limit: 500) { __typename
  ... on RunNotFoundError { message } ... on PythonError { message }
  ... on EventConnection { cursor hasMore events { __typename
    ... on MessageEvent { message timestamp level stepKey }
    ... on MaterializationEvent { assetKey { path } metadataEntries { label
      ... on IntMetadataEntry { intValue } ... on FloatMetadataEntry { floatValue } ... on TextMetadataEntry { text }
      ... on PathMetadataEntry { path } } }
    ... on AssetCheckEvaluationEvent { evaluation { checkName success assetKey { path } severity } }
    ... on ExecutionStepFailureEvent { error { className message stack
        errorChain { error { className message stack } } } }
    ... on RunFailureEvent { error { className message stack } } } } } }
"""

TERMINATE = """
mutation Terminate($ids: [String!]!, $policy: TerminateRunPolicy) {
  terminateRuns(runIds: $ids, terminatePolicy: $policy) { __typename ... on PythonError { message }
    ... on TerminateRunsResult { terminateRunResults { __typename
    ... on TerminateRunFailure { message } } } } }
"""

MATERIALIZATIONS = """
query Materializations($key: AssetKeyInput!, $limit: Int) { assetOrError(assetKey: $key) { __typename
  ... on AssetNotFoundError { message }
  ... on Asset { assetMaterializations(limit: $limit) { runId timestamp partition tags { key value }
    metadataEntries { label
      ... on IntMetadataEntry { intValue } ... on FloatMetadataEntry { floatValue } ... on TextMetadataEntry { text }
    ... on PathMetadataEntry { path } } } } } }
"""

SENSORS = """
query Sensors($repository: RepositorySelector!) { sensorsOrError(repositorySelector: $repository) { __typename
  ... on PythonError { message } ... on RepositoryNotFoundError { message }
  ... on Sensors { results { name sensorType id sensorState { id status
    ticks(limit: 1) { status timestamp skipReason error { message stack } } } } } } }
"""

START_SENSOR = """
mutation StartSensor($selector: SensorSelector!) { startSensor(sensorSelector: $selector) { __typename
  ... on SensorNotFoundError { message } ... on UnauthorizedError { message } ... on PythonError { message } } }
"""

STOP_SENSOR = """
mutation StopSensor($id: String!) { stopSensor(id: $id) { __typename ... on UnauthorizedError { message }
  ... on PythonError { message } } }
"""
