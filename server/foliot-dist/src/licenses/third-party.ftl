The libraries in the folder lib, and their licences as their authors state them.
<#list dependencyMap as entry>

${entry.getKey().groupId}:${entry.getKey().artifactId}:${entry.getKey().version}
<#list entry.getValue() as license>
  ${license}
</#list>
<#if entry.getKey().url??>
  ${entry.getKey().url}
</#if>
</#list>
